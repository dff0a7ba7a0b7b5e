# rows.csv of `plimsoll spill --compare`, one graph and capacity after the other: a line for each.
BEGIN {
    FS = ","
    print "| instance | buffers | capacity | load | least traffic | claim | largest-area gap % | cheapest-area gap % | exact gap % | exact s | ilp s |"
    print "|---|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|"
}
NR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
function shown(table, name) { return (name in table) ? table[name] : "-" }
# A gap that is not zero never looks like zero.
function percent(gap) { return gap == "" ? "-" : (gap > 0 && gap < 0.005) ? "<0.01" : sprintf("%.2f", gap) }
function flush_graph() {
    if (graph == "") return
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", graph, buffers, capacity, load, least == "" ? "-" : least, shown(claim, "exact"), shown(gap, "largest-area"), shown(gap, "cheapest-area"), shown(gap, "exact"), shown(seconds, "exact"), shown(seconds, "ilp")
    cases++
    if (shown(claim, "exact") == "optimal") proved++
    if (shown(claim, "exact") == "infeasible") none++
}
{
    if ($column["instance"] != graph || $column["capacity"] != capacity) {
        flush_graph()
        graph = $column["instance"]; buffers = $column["buffers"]; capacity = $column["capacity"]; load = $column["load"]; least = ""
        delete gap; delete claim; delete seconds
    }
    name = $column["solver"]; traffic = $column["traffic"]
    claim[name] = $column["claim"]; seconds[name] = sprintf("%.3f", $column["seconds"]); gap[name] = percent($column["gap_percent"])
    if (traffic != "" && (least == "" || traffic + 0 < least + 0)) least = traffic
}
END {
    flush_graph()
    printf "\n%d cases: %d proved, %d where what has to stay does not fit.\n", cases, proved, none
}
