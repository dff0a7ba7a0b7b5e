# rows.csv of `plimsoll tiers --compare --output`, one model and machine after the other: a line for each.
# Reasons stand last and may hold commas; no column before does.
BEGIN {
    FS = ","
    print "| graph | machine | tensors | bytes | coverage | bound ms | off-chip gap % | fused gap % | as printed gap % | greedy gap % | local search gap % | exact gap % | claim | on chip % | DDR bytes fused | DDR bytes exact | inference ms fused | inference ms exact | exact s | ilp s |"
    print "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|"
}
NR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
function shown(table, name) { return (name in table) ? table[name] : "-" }
function flush_graph() {
    if (graph == "") return
    printf "| %s | %s | %s | %s | %s | %.3f | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", graph, machine, tensors, bytes, coverage, bound / 1e9, shown(gap, "off-chip"), shown(gap, "fused"), shown(gap, "fused-printed"), shown(gap, "greedy"), shown(gap, "local-search"), shown(gap, "exact"), shown(claim, "exact"), shown(on_chip, "exact"), shown(traffic, "fused"), shown(traffic, "exact"), shown(inference, "fused"), shown(inference, "exact"), shown(seconds, "exact"), shown(seconds, "ilp")
}
{
    if ($column["graph"] != graph || $column["machine"] != machine) {
        flush_graph()
        graph = $column["graph"]; machine = $column["machine"]; tensors = $column["tensors"]; bytes = $column["bytes"]
        coverage = sprintf("%.3f", $column["coverage"]); bound = $column["best_bound_ps"]
        delete gap; delete claim; delete on_chip; delete traffic; delete inference; delete seconds
    }
    name = $column["placement"]
    claim[name] = $column["claim"]; seconds[name] = sprintf("%.3f", $column["seconds"])
    if ($column["transfer_ps"] == "") next
    gap[name] = ($column["gap_percent"] == "") ? "-" : sprintf("%.2f", $column["gap_percent"])
    on_chip[name] = ($column["on_chip_percent"] == "") ? "-" : sprintf("%.1f", $column["on_chip_percent"])
    traffic[name] = $column["off_chip_traffic"]; inference[name] = sprintf("%.3f", $column["inference_ps"] / 1e9)
}
END { flush_graph() }
