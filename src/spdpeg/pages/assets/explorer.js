// Weights come largest first; the sliders go from small to large.
const sizes = { lam1: data.lam1.length, lam2: data.lam2.length };
const state = { lam1: data.start[0], lam2: data.start[1], row: 0, quantity: Object.keys(data.surfaces)[0] };
const weight = (value) => (value === 0 ? "0" : value.toPrecision(3));
const current = () => data.coef[state.lam1][state.lam2][state.row];

function shownCoefficients() {
  if (data.shape) {
    const [rows, columns] = data.shape;
    return { panels: [{ title: "coefficients", values: Array.from({ length: rows }, (_, k) => current().slice(k * columns, (k + 1) * columns)) }], limit: data.limit };
  }
  return { marks: [{ kind: data.mark, x: data.places, y: current(), color: "blue" }] };
}

const picture = data.shape ? images(shownCoefficients())
  : chart({ ...shownCoefficients(), title: "coefficients", names: data.names, x: { label: "feature" }, y: { label: "coefficient", range: data.range } });
find("coefficients").append(picture.figure);

function numbers() {
  find("numbers").replaceChildren(...Object.entries(data.surfaces).map(([name, values]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, short(values[state.lam1][state.lam2])))));
}

function pin(id, i, j) {
  find(id).style.left = `${(100 * (sizes.lam2 - j - 0.5)) / sizes.lam2}%`;
  find(id).style.top = `${(100 * (i + 0.5)) / sizes.lam1}%`;
}

function surface() {
  // Like the sliders: lam2 grows to the right, lam1 grows upwards.
  const values = data.surfaces[state.quantity].map((row) => [...row].reverse());
  // A few bad pairs must not take the colours from all others.
  const sorted = values.flat().filter((value) => value !== null).sort((one, other) => one - other);
  const most = sorted.at(-1), judged = state.quantity === "score";
  const least = judged ? sorted[Math.floor(sorted.length / 4)] : sorted[0];
  paint(find("map"), values, least, most, false);
  find("map-note").textContent = `${state.quantity}, from ${short(least, 3)}${judged && least > sorted[0] ? " or less" : ""} (faint) to ${short(most, 3)} (blue). ` +
    `lam1 grows upwards to ${weight(data.lam1[0])}, lam2 to the right to ${weight(data.lam2[0])}. The ring is where you are${data.chosen ? ", the star what was chosen" : ""}. Click to go elsewhere.`;
}

function render() {
  for (const name of ["lam1", "lam2"]) {
    find(name).value = sizes[name] - 1 - state[name];
    find(`${name}-label`).textContent = `${name} = ${weight(data[name][state[name]])}`;
    find(name).setAttribute("aria-valuetext", weight(data[name][state[name]]));
  }
  picture.change(shownCoefficients());
  numbers();
  pin("here", state.lam1, state.lam2);
  find("go").disabled = state.lam1 === data.start[0] && state.lam2 === data.start[1];
  history.replaceState(null, "", "#" + new URLSearchParams({ lam1: state.lam1, lam2: state.lam2, row: state.row }));
}

for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
  const most = name === "row" ? data.rows.length : sizes[name];
  if (Number(value) >= 0 && Number(value) < most) state[name] = Math.floor(Number(value));
}
for (const name of ["lam1", "lam2"]) {
  find(name).max = sizes[name] - 1;
  find(name).disabled = sizes[name] === 1;
  find(name).addEventListener("input", () => { state[name] = sizes[name] - 1 - Number(find(name).value); render(); });
}
find("summary").textContent = data.summary;
find("row").append(...data.rows.map((text, k) => make("option", { value: k, selected: k === state.row }, text)));
find("row-field").hidden = data.rows.length === 1;
find("row").addEventListener("change", (event) => { state.row = Number(event.target.value); render(); });
find("quantity").append(...Object.keys(data.surfaces).map((name) => make("option", { value: name }, name)));
find("quantity").addEventListener("change", (event) => { state.quantity = event.target.value; surface(); });
find("go").addEventListener("click", () => { [state.lam1, state.lam2] = data.start; render(); });
find("map").addEventListener("click", (event) => {
  const box = find("map").getBoundingClientRect();
  const inside = (share, count) => Math.min(count - 1, Math.max(0, Math.floor(share * count)));
  state.lam1 = inside((event.clientY - box.top) / box.height, sizes.lam1);
  state.lam2 = sizes.lam2 - 1 - inside((event.clientX - box.left) / box.width, sizes.lam2);
  render();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", surface);
find("go").textContent = data.chosen ? "Go to the chosen point" : "Go back to the middle";
find("chosen").hidden = !data.chosen;
pin("chosen", ...data.start);
surface();
render();
