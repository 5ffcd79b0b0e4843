const AXES = { passes: "passes over the data", reads: "rows read", seconds: "seconds" };
const STAGES = { end: "at the end", early: "after the first pass" };
const state = { task: "", set: "", metric: "objective", axis: "", stage: "end" };
const METRICS = ["objective", "test_loss", "score"];
const MARKS = { ahead: "▲", level: "●", behind: "▼" };
const MILLISECONDS = 1;
const hidden = new Set();

const metrics = (task) => ({
  objective: "objective",
  excess: "objective above the optimum",
  test_loss: "test loss",
  score: data.tasks[task].score === "accuracy" ? "accuracy on the test part" : "R² on the test part",
});
const brief = (value) => short(value, 2);
const duration = (seconds) => (seconds < 0.1 ? `${short(1000 * seconds)} ms` : `${Number(seconds.toPrecision(3))} s`);
const place = (axis, at) => (axis === "seconds" ? duration(at) : `${short(at)} passes`);
const cell = () => `${state.task}/${state.set}`;
const methods = () => data.tasks[state.task].methods;

const parts = (color) => (color.length === 4 ? [1, 2, 3].map((i) => color[i] + color[i]) : [1, 3, 5].map((i) => color.slice(i, i + 2))).map((two) => parseInt(two, 16) / 255);
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

// Colours are chosen for white; on a dark card they are mixed with white until they stand out from it three to one.
function visible(color) {
  const card = luminance(parts(getComputedStyle(document.documentElement).getPropertyValue("--card").trim()));
  let rgb = parts(color);
  while (card < 0.2 && luminance(rgb) + 0.05 < 3 * (card + 0.05)) rgb = rgb.map((part) => part + 0.1 * (1 - part));
  return `#${rgb.map((part) => Math.round(255 * part).toString(16).padStart(2, "0")).join("")}`;
}

function radios(id, choices) {
  const group = find(id);
  group.replaceChildren(group.querySelector("legend"));
  for (const [value, label] of Object.entries(choices)) {
    const input = make("input", { type: "radio", name: id, value, checked: state[id] === value });
    input.addEventListener("change", () => choose(id, value));
    group.append(make("label", { className: "choice" }, input, make("span", {}, label)));
  }
}

function choose(what, value) {
  state[what] = value;
  render();
}

function controls() {
  radios("task", Object.fromEntries(Object.entries(data.tasks).map(([name, task]) => [name, task.title])));
  radios("metric", metrics(state.task));
  radios("axis", { passes: "passes", reads: "rows read", seconds: "time" });
  radios("stage", STAGES);
  const sets = data.tasks[state.task].sets;
  find("set").replaceChildren(...sets.map((name) => make("option", { value: name, selected: name === state.set }, name)));
  const list = Object.entries(methods()).map(([name, method]) => {
    const present = name in data.curves[cell()];
    const input = make("input", { type: "checkbox", value: name, checked: present && !hidden.has(name), disabled: !present });
    input.addEventListener("change", () => {
      hidden[input.checked ? "delete" : "add"](name);
      draw();
    });
    const swatch = make("span", { className: `swatch ${method.dash}` });
    swatch.style.borderTopColor = visible(method.color);
    const label = make("label", { className: present ? "choice" : "choice absent" }, input, swatch, make("span", {}, method.label));
    if (!present) label.title = data.skipped.find((s) => s.task === state.task && s.set === state.set && s.method === name)?.why ?? "";
    return label;
  });
  find("method-list").replaceChildren(...list);
}

function shown() {
  return Object.entries(data.curves[cell()]).filter(([name, curve]) => !hidden.has(name) && curve.passes.length > 1);
}

function traces() {
  const lines = [];
  for (const [name, curve] of shown()) {
    const { label, dash, marker } = methods()[name];
    const color = visible(methods()[name].color);
    // The start lies at zero, where a logarithmic axis has no place.
    const rows = data.rows[cell()];
    const x = state.axis === "reads" ? curve.passes.slice(1).map((p) => p * rows) : curve[state.axis].slice(1);
    const [mean, low, high] = curve[state.metric].map((row) => row.slice(1));
    if (find("range").checked) {
      const band = { x, mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
      lines.push({ ...band, y: low }, { ...band, y: high, fill: "tonexty", fillcolor: `${color}22` });
    }
    lines.push({
      x, y: mean, name: label, mode: "lines+markers", line: { color, dash, width: 2 }, marker: { color, size: 5, symbol: marker },
      customdata: x.map((_, i) => [curve.passes[i + 1], curve.seconds[i + 1], low[i], high[i]]),
      hovertemplate: `<b>${label}</b><br>%{y:.6g}  (%{customdata[2]:.5g} to %{customdata[3]:.5g})<br>` +
        "%{customdata[0]:.4g} passes, %{customdata[1]:.4g} s<extra></extra>",
    });
  }
  return lines;
}

function limits() {
  if (state.metric === "score" || state.metric === "excess") return undefined;
  const curves = shown().map(([, curve]) => curve[state.metric]);
  if (!curves.length) return undefined;
  const best = data.optima[cell()][state.metric] ?? Infinity;
  const low = Math.min(best, ...curves.flatMap((c) => c[1].slice(1)).filter((v) => v !== null));
  const high = Math.min(1.3 * curves[0][0][0], Math.max(...curves.flatMap((c) => c[2].slice(1)).filter((v) => v !== null)));
  return [low - 0.04 * (high - low), high + 0.04 * (high - low)];
}

function layout() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const axis = { gridcolor: color("--line"), linecolor: color("--line"), zeroline: false, automargin: true };
  const best = data.optima[cell()][state.metric];
  const line = best === undefined ? [] : [{
    type: "line", xref: "paper", x0: 0, x1: 1, y0: best, y1: best, line: { color: color("--ink"), width: 1, dash: "dot" },
    label: { text: "optimum", textposition: "start", font: { size: 11, color: color("--quiet") }, padding: 2 },
  }];
  return {
    paper_bgcolor: color("--card"), plot_bgcolor: color("--card"), hovermode: "closest",
    // On paper the list of methods, which is the legend of the screen, is left out.
    showlegend: matchMedia("print").matches, legend: { orientation: "h", y: -0.2 },
    font: { color: color("--ink"), family: "system-ui, sans-serif", size: 13 }, margin: { l: 60, r: 16, t: 16, b: 50 },
    xaxis: { ...axis, type: "log", title: { text: AXES[state.axis] }, exponentformat: "power" },
    yaxis: { ...axis, type: state.metric === "excess" ? "log" : "linear", title: { text: metrics(state.task)[state.metric] },
      range: limits(), exponentformat: "power" },
    shapes: line, hoverlabel: { bgcolor: color("--card"), bordercolor: color("--line"), font: { color: color("--ink") } },
  };
}

function draw() {
  Plotly.react("plot", traces(), layout(), { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d"] });
}

function caption() {
  const optimum = data.optima[cell()];
  const rounds = data.settings.study.rounds;
  const start = `${data.tasks[state.task].title} on ${state.set}: ${metrics(state.task)[state.metric]} against ${AXES[state.axis]}, ` +
    `mean of ${rounds} ${rounds === 1 ? "round" : "rounds"} with ${data.settings.study.seeds} ${data.settings.study.seeds === 1 ? "seed" : "seeds"} each; set-up and tuning are off the clock.`;
  const gap = Number((optimum.gap ?? 0).toPrecision(2));
  const known = `found by ${optimum.solver}` + (gap > 0 ? ` with a relative duality gap of at most ${gap}.` : ".");
  const proof = state.metric === "excess"
    ? "Measured from the lower bound that the certificate of the optimum proves, or from the lowest objective seen where that bound is loose."
    : optimum.proved ? `The dotted line is the optimum (${short(optimum[state.metric])}), ${known}`
    : `No optimum is shown, since none is proved: the best value was ${known}`;
  find("caption").textContent = `${start} ${proof}`;
  find("plot").setAttribute("aria-label", start);
}

function ranking() {
  const metric = state.metric === "excess" ? "objective" : state.metric;
  const axis = state.axis === "seconds" ? "seconds" : "passes";
  const table = data.standings[`${cell()}/${metric}/${axis}/${state.stage}`];
  const equal = axis === "seconds" ? "equal time" : "equal passes";
  find("ranking-title").textContent = `Ranking by ${metrics(state.task)[metric]} at ${equal}: ${place(axis, table.at)}`;
  const head = ["place", "method", "mean", "worse than the first by", "interval"].map((text) => make("th", { scope: "col" }, text));
  const rows = table.rows.map(([rank, name, mean, behind, low, high]) => {
    const cells = rank === null
      ? ["–", methods()[name].label, "ended before", "", ""]
      : [rank, methods()[name].label, short(mean), rank === 1 ? "" : brief(behind), rank === 1 || low === null ? "" : `${brief(low)} to ${brief(high)}`];
    return make("tr", {}, ...cells.map((text) => make("td", {}, String(text))));
  });
  find("ranking").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  find("ranking-note").textContent = `Interval: of the mean difference over the rounds, corrected for the rows that training parts share, at ${100 * (1 - data.level)} %. ` +
    `"Ended before": the method came to its end or diverged before that, or its time was up.`;
}

function strip() {
  find("strip").hidden = data.conditions.length === 0;
  for (const text of data.conclusion) find("conclusion").append(make("p", {}, text));
  for (const [task, about] of Object.entries(data.tasks)) {
    const names = data.cells.filter((c) => c.task === task).map((c) => c.set);
    const head = ["condition", ...names, "ahead / level / behind"].map((text) => make("th", { scope: "col" }, text));
    const rows = data.conditions.filter((c) => c.duels.some((d) => d[0] === task)).map((condition) => {
      const cells = names.map((set) => {
        const counted = condition.duels.some((d) => d[0] === task && d[1] === set && d.at(-1));
        const marks = METRICS.map((metric) => {
          const duel = condition.duels.find((d) => d[0] === task && d[1] === set && d[2] === metric && d[3] === "passes");
          if (!duel) return make("span", { className: "mark", title: `${metric}: not compared` }, "·");
          const [, , , , outcome, ours, rival, mean, low, high] = duel;
          const interval = low === null ? "" : ` (${brief(low)} to ${brief(high)})`;
          return make("span", { className: `mark ${outcome}`,
            title: `${metrics(task)[metric]}: ${about.methods[ours].label} ${outcome}; worse than ${about.methods[rival].label} by ${brief(mean)}${interval}` }, MARKS[outcome]);
        });
        return make("td", { className: counted ? "" : "uncounted" }, ...marks);
      });
      return make("tr", {}, make("th", { scope: "row" }, condition.title), ...cells,
        make("td", {}, condition.tallies[`${task}/passes`].join(" / ")));
    });
    if (!rows.length) continue;
    const table = make("table", {}, make("caption", {}, about.title), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
    find("strips").append(make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: about.title }, table));
  }
  find("strip-note").textContent = `Three marks a set: objective, test loss, ${Object.values(data.tasks)[0].score}, at equal passes. ` +
    `▲ SPDPEG's mean is better than every rival's; ▼ an interval says that it is worse than one of them; ● neither. ` +
    `Pale: shown, not counted, since x = 0 is less than ${100 * data.flat} % above the optimum, or since the authors' scripts have no parameters for the set.`;
}

function ranks() {
  find("ranks").hidden = data.rankings.length === 0;
  const head = ["task", "parameters", "metric", "compared at", "average ranks", "p", "critical difference", "sets"].map((text) => make("th", { scope: "col" }, text));
  const rows = data.rankings.map((r) => {
    const label = (name) => data.tasks[r.task].methods[name].label;
    const list = Object.entries(r.average).map(([name, rank]) => `${label(name)} ${rank.toFixed(1)}`).join(", ");
    const absent = r.absent.length ? ` (not there on every set: ${r.absent.map(label).join(", ")})` : "";
    const cells = [r.task, r.group, metrics(r.task)[r.metric], `equal ${r.axis}`, list + absent, r.p < 0.001 ? "< 0.001" : r.p.toFixed(3), r.critical.toFixed(1), r.sets];
    return make("tr", {}, ...cells.map((text) => make("td", {}, String(text))));
  });
  find("rank-table").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

function cells() {
  const head = ["task", "set", "P(0)", "P*", "P(0) above P*", "optimum's score", "majority vote", "8 ρ|F|²", "√(8L̂² + ρ|F|²)", "printed L̃ set by", "passes", "time"].map((text) => make("th", { scope: "col" }, text));
  const rows = data.cells.map((c) => {
    const binding = c.coupling > c.curvature ? "ρ = 1" : "L̂";
    const values = [c.task, c.counted ? c.set : `${c.set} (not counted)`, short(c.start), short(c.objective), `${(100 * c.drop).toFixed(1)} %`, short(c.score), short(c.majority),
      brief(c.coupling), brief(c.curvature), binding, short(c.passes), duration(c.seconds)];
    return make("tr", {}, ...values.map((text) => make("td", {}, text)));
  });
  find("cells").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  const bound = data.cells.filter((c) => c.coupling > c.curvature).length;
  find("cells-note").textContent = `The printed steps are short because of L̃, the larger of two terms: with ρ = 1, which the authors' script sets and the paper does not print, ` +
    `8 ρ|F|² is the larger one in ${bound} of ${data.cells.length} cells, the curvature of the worst row in ${data.cells.length - bound}.`;
}

function legend() {
  const seen = new Set();
  for (const task of Object.values(data.tasks)) {
    for (const { label, runs } of Object.values(task.methods)) {
      if (!seen.has(label)) find("legend").append(make("dt", {}, label), make("dd", {}, runs));
      seen.add(label);
    }
  }
}

function render() {
  const sets = data.tasks[state.task].sets;
  if (!sets.includes(state.set)) state.set = sets[0];
  const focus = document.activeElement;
  const restore = focus && focus.name ? `input[name="${focus.name}"]:checked` : null;
  controls();
  if (restore) document.querySelector(restore)?.focus();
  draw();
  caption();
  ranking();
  history.replaceState(null, "", "#" + new URLSearchParams(state));
}

function claims() {
  find("verdict").hidden = data.claims.length === 0;
  for (const claim of data.claims) {
    find("claims").append(make("article", { className: `claim ${claim.outcome.replace(" ", "-")}` },
      make("div", { className: "head" }, make("span", { className: "outcome" }, claim.outcome), make("span", {}, data.tasks[claim.task].title)),
      make("blockquote", {}, `“${claim.sentence}”`), make("p", { className: "evidence" }, `${claim.condition}: ${claim.evidence}.`),
      make("p", {}, claim.reading)));
  }
}

function background() {
  const { study, machine, versions, finished } = data.settings;
  const count = new Set(Object.values(data.tasks).flatMap((task) => Object.keys(task.methods))).size;
  find("summary").textContent = `${count} methods on ${Object.keys(data.sets).join(", ")}; ${study.rounds} of ${study.folds} folds, ` +
    `${study.seeds} ${study.seeds === 1 ? "seed" : "seeds"}, spdpeg ${versions.spdpeg}, ${machine.processor}, ${finished.slice(0, 10)}.`;
  for (const task of Object.values(data.tasks)) find("descriptions").append(make("dt", {}, task.title), make("dd", {}, task.formula));
  for (const [name, text] of Object.entries(data.sets)) find("descriptions").append(make("dt", {}, name), make("dd", {}, text));
  for (const s of data.skipped) find("skipped").append(make("p", { className: "note" }, `${s.method} on ${s.set}, ${s.task}: left out. ${s.why}`));
  for (const [name, part] of Object.entries(data.settings)) {
    find("settings").append(make("details", {}, make("summary", {}, name), facts(part)));
  }
}

for (const [key, value] of new URLSearchParams(location.hash.slice(1))) if (key in state) state[key] = value;
if (!(state.task in data.tasks)) state.task = Object.keys(data.tasks)[0];
if (!(state.metric in metrics(state.task))) state.metric = "objective";
// Where a run takes milliseconds, seconds measure the machine.
if (!(state.axis in AXES)) state.axis = Math.min(...data.cells.map((c) => c.seconds)) < MILLISECONDS ? "passes" : "seconds";
if (!(state.stage in STAGES)) state.stage = "end";
find("set").addEventListener("change", (event) => choose("set", event.target.value));
find("range").addEventListener("change", draw);
find("all").addEventListener("click", () => { hidden.clear(); render(); });
function only(settings) {
  Object.entries(methods()).forEach(([name, m]) => hidden[settings.includes(m.setting) ? "delete" : "add"](name));
  render();
}
find("tuned").addEventListener("click", () => only(["tuned", "one-tuned"]));
find("authors").addEventListener("click", () => only(["authors"]));
find("none").addEventListener("click", () => { Object.keys(methods()).forEach((name) => hidden.add(name)); render(); });
for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", render);
for (const task of Object.values(data.tasks)) {
  // The authors' rivals would double the lines; a button shows them.
  Object.entries(task.methods).forEach(([name, m]) => { if (m.setting === "authors" && !name.startsWith("spdpeg")) hidden.add(name); });
}
strip();
claims();
ranks();
cells();
legend();
background();
render();
