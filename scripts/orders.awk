# rows.csv of `plimsoll order --compare`, one graph after the other: a line per graph.
BEGIN {
    FS = ","
    print "| graph | operators | as in file | best heuristic | its peak | exact | bound | claim | seconds |"
    print "|---|--:|--:|---|--:|--:|--:|---|--:|"
}
NR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
function flush_graph() {
    if (graph != "")
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", graph, operators, file, name, best, exact, bound, claim, seconds
}
{
    if ($column["graph"] != graph) {
        flush_graph()
        graph = $column["graph"]; operators = $column["operators"]
        best = ""; file = exact = bound = claim = seconds = "-"
    }
    order = $column["order"]; peak = $column["peak"]
    if (order == "as-in-file") file = peak
    if ($column["kind"] == "heuristic" && (best == "" || peak + 0 < best + 0)) { best = peak; name = order }
    if (order == "exact") {
        exact = peak; bound = $column["lower_bound"]; claim = $column["claim"]
        seconds = sprintf("%.3f", $column["seconds"])
    }
}
END { flush_graph() }
