# rows.csv of `plimsoll overlap --output`, one model and machine after the other: a line for each.
# Names and reasons may hold commas: fields are split here, quotes undone.
function split_row(line,    at, letter, quoted, field) {
    count = 0; field = ""; quoted = 0
    for (at = 1; at <= length(line); at++) {
        letter = substr(line, at, 1)
        if (quoted && letter == "\"" && substr(line, at + 1, 1) == "\"") { field = field "\""; at++ }
        else if (letter == "\"") quoted = !quoted
        else if (letter == "," && !quoted) { cell[++count] = field; field = "" }
        else field = field letter
    }
    cell[++count] = field
}
# What is not zero never looks like zero.
function percent(text, claim) {
    if (text == "") return "-"
    if (text + 0 < 0.01 && text + 0 >= 0 && (text + 0 > 0 || claim == "feasible")) return "<0.01"
    return sprintf("%.2f", text)
}
BEGIN {
    print "| graph | machine | steps | weights | activations | bound ms | best | gap % | claim | ping-pong gap % | gain % | slowest s |"
    print "|---|---|--:|--:|--:|--:|---|--:|---|--:|--:|--:|"
}
{ split_row($0) }
NR == 1 {
    for (i = 1; i <= count; i++) column[cell[i]] = i
    next
}
function flush_graph() {
    if (graph == "") return
    if (best == "")
        printf "| %s | %s | %s | %s | %s | - | does not fit | - | infeasible | - | - | - |\n", graph, machine, steps, weights, activations
    else
        printf "| %s | %s | %s | %s | %s | %.3f | %s | %s | %s | %s | %s | %.3f |\n", graph, machine, steps, weights, activations, bound / 1e9, best, percent(gap, claim), claim, pingpong, gain, slowest
}
{
    if (cell[column["graph"]] != graph || cell[column["machine"]] != machine) {
        flush_graph()
        graph = cell[column["graph"]]; machine = cell[column["machine"]]; steps = cell[column["steps"]]
        weights = cell[column["weights"]]; activations = cell[column["activations"]]; bound = cell[column["lower_bound_ps"]]
        best = ""; pingpong = gain = "-"; slowest = 0
    }
    if (cell[column["seconds"]] + 0 > slowest) slowest = cell[column["seconds"]] + 0
    if (cell[column["makespan_ps"]] == "") next
    if (best == "" || cell[column["makespan_ps"]] + 0 < least) {
        least = cell[column["makespan_ps"]] + 0; best = cell[column["schedule"]]
        gap = cell[column["gap_percent"]]; claim = cell[column["claim"]]
    }
    if (cell[column["schedule"]] == "ping-pong") {
        pingpong = percent(cell[column["gap_percent"]], cell[column["claim"]]); gain = percent(cell[column["gain_percent"]])
    }
}
END { flush_graph() }
