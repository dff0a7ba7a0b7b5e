(function () {
  "use strict";
// Returns the sort key of a cell: a number if the text is one, otherwise the text. Bound marks, units,
// "of N" and blanks between digits are ignored.
  function key(cell) {
    var text = cell ? cell.textContent.trim() : "";
    if (text === "" || /^-( |$)/.test(text)) return null;
    // Times are compared in seconds.
    var times = /^[<>]?(?:(\d+) min )?([\d.]+) (ns|\u00b5s|ms|s)$/.exec(text);
    if (times) return (times[1] || 0) * 60 + times[2] * { ns: 1e-9, "\u00b5s": 1e-6, ms: 1e-3, s: 1 }[times[3]];
    var plain = text.replace(/^[<>]\s*/, "").replace(/\s*(%|bytes|\(load\)|of [\d\s]+)$/, "");
    var number = Number(plain.replace(/\s/g, ""));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  }
  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  function sort(table, heads, column) {
    var up = heads[column].getAttribute("aria-sort") !== "ascending";
    var body = table.tBodies[0];
    var rows = Array.prototype.map.call(body.rows, function (row, at) {
      return { row: row, at: at, key: key(row.cells[column]) };
    });
    rows.sort(function (a, b) {
      // Empty cells stay at the bottom in both sort directions.
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.at - b.at;
      return (up ? compare(a.key, b.key) : compare(b.key, a.key)) || a.at - b.at;
    });
    var sorted = document.createDocumentFragment();
    rows.forEach(function (one) { sorted.appendChild(one.row); });
    body.appendChild(sorted);
    heads.forEach(function (head, at) {
      head.setAttribute("aria-sort", at === column ? (up ? "ascending" : "descending") : "none");
    });
  }
  function filter(wrap, table, name) {
    var label = document.createElement("label");
    var input = document.createElement("input");
    var count = document.createElement("span");
    label.className = "filter";
    input.type = "search";
    input.setAttribute("aria-label", "Filter rows of " + name);
    count.setAttribute("aria-live", "polite");
    label.append("Filter", input, count);
    input.addEventListener("input", function () {
      var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      var shown = 0;
      Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
        var text = row.textContent.toLowerCase();
        var has = words.every(function (word) { return text.indexOf(word) >= 0; });
        row.hidden = !has;
        shown += has ? 1 : 0;
      });
      count.textContent = words.length ? shown + " of " + table.tBodies[0].rows.length + " rows" : "";
    });
    wrap.parentNode.insertBefore(label, wrap);
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
    heads.forEach(function (head, column) {
      var button = document.createElement("button");
      button.type = "button";
      while (head.firstChild) button.appendChild(head.firstChild);
      head.appendChild(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", function () { sort(table, heads, column); });
    });
    var wrap = table.parentNode;
    if (table.tBodies[0].rows.length > 12) filter(wrap, table, wrap.getAttribute("aria-label") || "the table");
  });
  // Unfolds the section to which the link points.
  function unfold() {
    var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (var at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  }
  window.addEventListener("hashchange", unfold);
  unfold();
})();
