const BLOCKS = {
  text: (block) => make("p", {}, block.text),
  proof: (block) => make("p", { className: block.proved ? "proof" : "proof open" }, block.text),
  chart: (block) => chart({ title: block.caption, ...block }).figure,
  images: (block) => images(block).figure,
  facts: (block) => make("details", { open: block.open }, make("summary", {}, block.title), facts(block.facts)),
  table(block) {
    const head = make("tr", {}, ...block.head.map((text) => make("th", { scope: "col" }, text)));
    const rows = block.rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {}, typeof cell === "number" ? short(cell) : String(cell ?? "–")))));
    const table = make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
    const holder = make("div", { className: "scroll", tabIndex: 0 }, table);
    return block.note ? make("div", {}, holder, make("p", { className: "note" }, block.note)) : holder;
  },
};

find("summary").textContent = data.summary;
for (const section of data.sections) {
  find("sections").append(make("section", {}, make("h2", {}, section.title), ...section.blocks.map((block) => BLOCKS[block.kind](block))));
}
