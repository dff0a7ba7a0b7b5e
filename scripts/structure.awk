# rows.csv of `plimsoll plan --conflicts compare`, one graph after the other: a line per graph.
# Ratios are to the best in one piece by `schedule`; a star marks one that is not proved. Witnesses stand last and may hold commas; no column before does.
BEGIN {
    FS = ","
    print "| graph | buffers | schedule | streams=2 | streams=4 | reachable | reachable in pieces | mutex | mutex collides in order | mutex collides at any time |"
    print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
}
NR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
function ratio(value, claim) {
    return sprintf("%.3f%s", base > 0 ? value / base : 1, claim == "optimal" ? "" : "*")
}
function flush_graph() {
    if (graph != "")
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", graph, buffers, schedule, two, four, reachable, pieces, mutex, wrong, races
}
{
    relation = $column["conflicts"]; exact = $column["exact"]; claim = $column["exact_claim"]
    if (relation == "schedule") {
        flush_graph()
        graph = $column["graph"]; buffers = $column["buffers"]; base = exact
        schedule = exact (claim == "optimal" ? "" : "*")
    }
    if (relation == "streams=2") two = ratio(exact, claim)
    if (relation == "streams=4") four = ratio(exact, claim)
    if (relation == "reachable") {
        reachable = ratio(exact, claim)
        pieces = ratio($column["scattered"], $column["scattered_claim"])
    }
    if (relation == "mutex") {
        mutex = ratio(exact, claim)
        wrong = $column["collide_in_order"]; races = $column["collide"]
    }
}
END { flush_graph() }
