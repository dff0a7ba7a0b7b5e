# rows.csv of `plimsoll fuse --compare`, one graph after the other: a line per graph, patterns and rule.
BEGIN {
    FS = ","
    print "| graph | patterns | rule | operators | relations | greedy | exact | bound | gap | coverage | groups | claim | seconds |"
    print "|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|"
}
NR == 1 {
    for (i = 1; i <= NF; i++) column[$i] = i
    next
}
{
    key = $column["graph"] " | " $column["patterns"] " | " $column["rule"]
    if ($column["method"] == "greedy") greedy[key] = $column["optimised"]
    if ($column["method"] == "exact") {
        exact = $column["optimised"]; bound = $column["upper_bound"]; relations = $column["relations"]
        gap = exact > 0 ? sprintf("%.2f %%", (bound - exact) * 100 / exact) : (bound > 0 ? "-" : "0.00 %")
        share = relations > 0 ? sprintf("%.1f %%", exact * 100 / relations) : "-"
        printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %.3f |\n", key, $column["operators"], relations, greedy[key], exact, bound, gap, share, $column["groups"], $column["claim"], $column["seconds"]
        cases++
        if ($column["claim"] == "optimal") proved++
        if (greedy[key] == exact) met++
    }
}
END { printf "\n%d cases: %d proved, greedy meets the best of %d.\n", cases, proved, met }
