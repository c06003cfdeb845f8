# Completes the words of fulmar in fish.
function __fulmar_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l last (string unescape -- "$typed"; or echo -- "$typed")
    $words[1] complete fish -- $words[2..-1] "$last" 2>/dev/null
end

function __fulmar_words
    set -l lines (__fulmar_complete)
    test (count $lines) -gt 1; and string join \n -- $lines[2..-1]
end

function __fulmar_wants_files
    set -l lines (__fulmar_complete)
    test "$lines[1]" = files
end

complete -c fulmar -f -a '(__fulmar_words)'
complete -c fulmar -n __fulmar_wants_files -F
