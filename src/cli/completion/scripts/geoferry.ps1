# geoferry completion for PowerShell
Register-ArgumentCompleter -Native -CommandName geoferry -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object {
            if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
        })
    $lines = @(& geoferry __complete powershell @words "=$wordToComplete" 2>$null)
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $value, $what = $_ -split "`t", 2
        if (-not $what) { $what = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $what)
    }
}
