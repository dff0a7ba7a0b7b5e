#!/usr/bin/env bash
# Opens a page of `plimsoll report` in a browser without a screen, sorts and filters its first table, and fails on any
# error in the console, on what is not sorted, on identifiers that are there twice, and on anything loaded from elsewhere.
#   scripts/report-browser.sh DIR/report.html
# Needs chromium (Debian: apt-get install chromium); without one it says so and does nothing.
set -euo pipefail
page=$(realpath "${1:?which page?}")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    echo "no browser here: nothing checked"
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The page with a few lines behind it that do what a reader does; what they find stands in its title.
cp "$page" "$scratch/page.html"
cat >> "$scratch/page.html" <<'HTML'
<script>
(function () {
  "use strict";
  var said = [];
  function check(holds, what) { if (!holds) throw new Error("not so: " + what); said.push(what); }
  function numbers(table, column) {
    return Array.prototype.map.call(table.tBodies[0].rows, function (row) {
      return row.cells[column].textContent.trim().replace(/^[<>]/, "").replace(/ *%$/, "").replace(/[\s\u2009]/g, "");
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
      // Words among the numbers: sorted, but not by number alone.
      if (numbers(table, column).some(Number.isNaN)) continue;
      if (table.tBodies[0].rows.length > 2000) continue;
      var button = heads[column].querySelector("button");
      button.focus();
      if (document.activeElement !== button && button.checkVisibility()) throw new Error("a head cannot be reached by keyboard");
      button.click();
      if (heads[column].getAttribute("aria-sort") !== "ascending") throw new Error("aria-sort is not set");
      if (!ordered(numbers(table, column), 1)) throw new Error("not ascending: " + heads[column].textContent);
      button.click();
      if (heads[column].getAttribute("aria-sort") !== "descending") throw new Error("aria-sort is not turned");
      if (!ordered(numbers(table, column), -1)) throw new Error("not descending: " + heads[column].textContent);
      sorted++;
      break;
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
  document.title = "checked: " + said.join(", ");
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
        echo "the console is not silent"
        exit 1
    fi
    grep -oE '<title>checked: [^<]*' "$scratch/dom.html" | sed "s/<title>/$width pixels: /" || {
        echo "the page did not come to its end"
        exit 1
    }
done
