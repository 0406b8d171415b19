(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const wantsDark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => { root.dataset.theme = wantsDark.matches ? "dark" : "light"; };
  follow();
  wantsDark.addEventListener("change", follow);
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  });

  // Lines, and rows that point at lines: each has the numbers of the statements that it is of.
  const lines = all("[data-l]");
  const numbers = new Map(lines.map((line) => [line, line.dataset.l.split(" ")]));
  const holders = new Map();
  for (const line of lines) {
    for (const number of numbers.get(line)) {
      if (!holders.has(number)) holders.set(number, []);
      holders.get(number).push(line);
    }
  }
  const inSource = (line) => line.closest("#source") !== null;

  // A line of the source lights up all that became of it, an emitted one only what it is of.
  function linked(line) {
    const found = new Set([line]);
    for (const number of numbers.get(line)) {
      for (const other of holders.get(number)) {
        if (inSource(other) || !line.closest("#emitted")) found.add(other);
      }
    }
    return found;
  }

  let pinned = null;
  function mark(name, found) {
    for (const line of lines) line.classList.toggle(name, found.has(line));
  }
  function show(line) { mark("on", line ? linked(line) : pinned ? linked(pinned) : new Set()); }
  function pin(line) {
    pinned = pinned === line ? null : line;
    mark("pin", pinned ? new Set([pinned]) : new Set());
    for (const other of lines) other.setAttribute("aria-pressed", String(other === pinned));
    show(pinned);
    if (!pinned) return;
    const column = (one) => one.closest(".phase, #source");
    const seen = new Set([column(line), null]);
    for (const other of linked(line)) {  // the first of each other column
      if (seen.has(column(other))) continue;
      seen.add(column(other));
      other.scrollIntoView({ block: "nearest", behavior: "smooth" });
    }
  }

  for (const line of lines) {
    line.tabIndex = 0;
    line.setAttribute("role", "button");
    line.setAttribute("aria-pressed", "false");
    line.addEventListener("mouseenter", () => show(line));
    line.addEventListener("mouseleave", () => show(null));
    line.addEventListener("focus", () => show(line));
    line.addEventListener("blur", () => show(null));
    line.addEventListener("click", () => { if (!String(getSelection())) pin(line); });
    line.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pin(line); }
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && pinned) pin(pinned);
  });

  // Saved values: a row of the table lights up the name in the code.
  for (const row of all("tr[data-name]")) {
    const names = all(".v").filter((one) => one.textContent === row.dataset.name);
    const light = (on) => { for (const one of [row, ...names]) one.classList.toggle("on", on); };
    row.addEventListener("mouseenter", () => light(true));
    row.addEventListener("mouseleave", () => light(false));
    row.addEventListener("click", () => names[0] && names[0].scrollIntoView({ block: "center", behavior: "smooth" }));
  }

  const tip = document.getElementById("tip");
  document.addEventListener("mouseover", (event) => {
    const about = event.target.closest ? event.target.closest("[data-t]") : null;
    tip.hidden = about === null;
    if (about === null) return;
    tip.textContent = about.dataset.t;
    const box = about.getBoundingClientRect();
    const left = Math.min(box.left, innerWidth - tip.offsetWidth - 8);
    const below = box.bottom + 4 + tip.offsetHeight < innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? box.bottom + 4 : box.top - tip.offsetHeight - 4}px`;
  });

  // In a notebook the page is inside of a frame, which takes the height of what is in it.
  try {
    if (frameElement) frameElement.style.height = `${Math.min(document.body.scrollHeight + 20, 760)}px`;
  } catch (error) { /* a frame of another origin keeps its height */ }
})();
