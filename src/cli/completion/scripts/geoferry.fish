# geoferry completion for fish
function __geoferry_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l lines (geoferry __complete fish $words[2..-1] "=$token" 2>/dev/null)
    printf '%s\n' $lines[2..-1]
    if string match -q '*files*' -- "$lines[1]"
        __fish_complete_path "$token"
    end
end
complete -c geoferry -f -k -a '(__geoferry_complete)'
