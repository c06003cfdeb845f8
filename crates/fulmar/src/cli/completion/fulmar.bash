# Completes the words of fulmar in bash 4 and later.
_fulmar() {
    local wants='' line
    COMPREPLY=()
    {
        IFS= read -r wants
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done
    } < <("${1/#\~\//$HOME/}" complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    [[ $wants == files ]] || return 0
    if ((${#COMPREPLY[@]} == 0)); then
        # Readline knows best how to complete a file.
        compopt -o default +o nospace
        return 0
    fi
    while IFS= read -r line; do
        if [[ -d $line ]]; then
            printf -v line '%q/' "$line"
        else
            printf -v line '%q ' "$line"
        fi
        COMPREPLY+=("$line")
    done < <(compgen -f -- "$2")
}
complete -o nospace -F _fulmar fulmar
