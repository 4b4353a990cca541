"use strict";
for (const box of document.querySelectorAll(".table:not(.plain)")) {
  const table = box.querySelector("table"), body = table.tBodies[0];
  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b, "en", { numeric: true });
  for (const [column, head] of [...table.tHead.rows[0].cells].entries()) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(value(a, column), value(b, column)));
      body.append(...rows);
    });
  }
  const filter = box.querySelector(".filter");
  if (!filter) continue;
  filter.hidden = false;
  const input = filter.querySelector("input"), said = filter.querySelector("output");
  input.addEventListener("input", () => {
    // `1 MiB` is one word, and means the size and not every number with a 1 in it
    const words = input.value.toLowerCase().match(/\d[\d.]*\s*(?:[kmgt]i)?b(?!\S)|\S+/g) ?? [];
    let shown = 0;
    for (const row of body.rows) {
      const cells = [...row.cells].map(cell => cell.textContent.toLowerCase());
      row.hidden = !words.every(word => /^\d.*b$/.test(word)
        ? cells.some(cell => cell.replace(/\s/g, "") === word.replace(/\s/g, "")) : cells.some(cell => cell.includes(word)));
      shown += !row.hidden;
    }
    said.value = words.length ? `${shown} of ${body.rows.length} rows` : "";
  });
}
