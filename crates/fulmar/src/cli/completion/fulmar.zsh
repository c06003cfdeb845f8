#compdef fulmar

# Completes the words of fulmar in zsh.
_fulmar() {
    local -a lines closed open
    local line value entry wants
    local result=1
    lines=("${(@f)$(${~words[1]} complete zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    wants=$lines[1]
    for line in "${(@)lines[2,-1]}"; do
        [[ -n $line ]] || continue
        value=${line%%$'\t'*}
        entry=${value//:/\\:}
        [[ $line == *$'\t'* ]] && entry+=:${line#*$'\t'}
        case $value in
            (*[/:=@]) open+=("$entry") ;;
            (*) closed+=("$entry") ;;
        esac
    done
    (( $#closed )) && _describe -t words word closed && result=0
    (( $#open )) && _describe -t beginnings beginning open -S '' && result=0
    if [[ $wants == files ]]; then
        compset -P '--*='
        _files && result=0
    fi
    return result
}

if [[ $funcstack[1] == _fulmar ]]; then
    _fulmar "$@"
else
    compdef _fulmar fulmar
fi
