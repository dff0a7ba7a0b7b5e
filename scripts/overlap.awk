# rows.csv of `plimsoll overlap --output`, one model and machine after the other: a line for each.
# Reasons stand last and may hold commas; no column before does.
BEGIN {
    FS = ","
    print "| graph | machine | steps | weights | activations | bound ms | best | gap % | claim | ping-pong gap % | gain % | slowest s |"
    print "|---|---|--:|--:|--:|--:|---|--:|---|--:|--:|--:|"
}
NR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
function flush_graph() {
    if (graph == "") return
    if (best == "")
        printf "| %s | %s | %s | %s | %s | - | does not fit | - | infeasible | - | - | - |\n", graph, machine, steps, weights, activations
    else
        printf "| %s | %s | %s | %s | %s | %.3f | %s | %.2f | %s | %s | %s | %.3f |\n", graph, machine, steps, weights, activations, bound / 1e9, best, gap, claim, pingpong, gain, slowest
}
{
    if ($column["graph"] != graph || $column["machine"] != machine) {
        flush_graph()
        graph = $column["graph"]; machine = $column["machine"]; steps = $column["steps"]
        weights = $column["weights"]; activations = $column["activations"]; bound = $column["lower_bound_ps"]
        best = ""; pingpong = gain = "-"; slowest = 0
    }
    if ($column["seconds"] + 0 > slowest) slowest = $column["seconds"] + 0
    if ($column["makespan_ps"] == "") next
    if (best == "" || $column["makespan_ps"] + 0 < least) {
        least = $column["makespan_ps"] + 0; best = $column["schedule"]
        gap = $column["gap_percent"]; claim = $column["claim"]
    }
    if ($column["schedule"] == "ping-pong") {
        pingpong = sprintf("%.2f", $column["gap_percent"]); gain = sprintf("%.2f", $column["gain_percent"])
    }
}
END { flush_graph() }
