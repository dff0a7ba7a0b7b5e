#!/usr/bin/env bash
# Opens a page of `plimsoll report` in a headless browser, sorts its tables and filters the first one. Fails
# on console errors, wrong sort orders, duplicate identifiers, and any loaded resource.
#   scripts/report-browser.sh DIR/report.html
# Needs chromium (Debian: apt-get install chromium); without it, the check is skipped with a message.
set -euo pipefail
page=$(realpath "${1:?usage: scripts/report-browser.sh DIR/report.html}")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    echo "skipped: chromium is not installed"
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Appends a script to the page. The script acts like a reader and writes its findings into the title.
cp "$page" "$scratch/page.html"
cat >> "$scratch/page.html" <<'HTML'
<script>
(function () {
  "use strict";
  var passed = [];
  function check(holds, what) { if (!holds) throw new Error("check failed: " + what); passed.push(what); }
  function numbers(table, column) {
    return Array.prototype.map.call(table.tBodies[0].rows, function (row) {
      return row.cells[column].textContent.trim().replace(/^[<>]/, "").replace(/ *(%|bytes|\(load\)|of [0-9]+)$/, "").replace(/\s/g, "");
    }).filter(function (text) { return text !== "" && text !== "-"; }).map(Number);
  }
  function ordered(list, sign) {
    return list.every(function (number, at) { return at === 0 || sign * (number - list[at - 1]) >= 0; });
  }
  var tables = document.querySelectorAll("table.sortable");
  check(tables.length > 0, tables.length + " tables");
  var sorted = 0;
  tables.forEach(function (table) {
    var heads = table.tHead.rows[0].cells;
    for (var column = 0; column < heads.length; column++) {
      if (!heads[column].classList.contains("n") || numbers(table, column).length < 2) continue;
      // Skip columns with words among the numbers: they are not sorted by number alone.
      if (numbers(table, column).some(Number.isNaN)) continue;
      if (table.tBodies[0].rows.length > 2000) continue;
      var button = heads[column].querySelector("button");
      button.focus();
      if (document.activeElement !== button && button.checkVisibility()) throw new Error("a column head is not focusable by keyboard");
      button.click();
      if (heads[column].getAttribute("aria-sort") !== "ascending") throw new Error("aria-sort is not 'ascending'");
      if (!ordered(numbers(table, column), 1)) throw new Error("not ascending: " + heads[column].textContent);
      button.click();
      if (heads[column].getAttribute("aria-sort") !== "descending") throw new Error("aria-sort is not 'descending'");
      if (!ordered(numbers(table, column), -1)) throw new Error("not descending: " + heads[column].textContent);
      sorted++;
    }
  });
  check(sorted > 0, sorted + " sorted");
  var input = document.querySelector(".filter input");
  if (input) {
    var body = input.closest("label").nextElementSibling.querySelector("tbody");
    input.value = "no such row anywhere";
    input.dispatchEvent(new Event("input"));
    check(Array.prototype.every.call(body.rows, function (row) { return row.hidden; }), "filtered");
  }
  var ids = Array.prototype.map.call(document.querySelectorAll("[id]"), function (one) { return one.id; });
  check(new Set(ids).size === ids.length, ids.length + " identifiers, each once");
  check(performance.getEntriesByType("resource").length === 0, "nothing loaded");
  check(document.documentElement.scrollWidth <= document.documentElement.clientWidth, "no wider than the window");
  document.title = "checked: " + passed.join(", ");
})();
</script>
HTML
for width in 1400 420; do
    mkdir "$scratch/$width"
    "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$scratch/$width" --enable-logging=stderr --v=0 \
        --window-size="$width,900" --virtual-time-budget=20000 --dump-dom "file://$scratch/page.html" \
        > "$scratch/dom.html" 2> "$scratch/log"
    if grep -E 'CONSOLE|Refused|Uncaught' "$scratch/log"; then
        echo "the browser console reported messages"
        exit 1
    fi
    grep -oE '<title>checked: [^<]*' "$scratch/dom.html" | sed "s/<title>/$width pixels: /" || {
        echo "the checks on the page did not complete"
        exit 1
    }
done
