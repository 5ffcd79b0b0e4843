// Charts and images as SVG and canvas. Colours are those of the page, so that they follow the reader's scheme.
const SVG = "http://www.w3.org/2000/svg";
const tone = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

function shape(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Smallest and largest; of nothing, 0 and 1.
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low <= high ? [low, high] : [0, 1];
}

function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

function powers(low, high, count) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const stride = Math.max(1, Math.ceil((last - first + 1) / count));
  const found = [];
  for (let k = first; k <= last; k += stride) found.push(10 ** k);
  return found.length > 1 ? found : [low, high];
}

const label = (value) => (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6) ? value.toExponential(0) : String(Number(value.toPrecision(6))));

function axis(spec, values, from, to, count) {
  const log = Boolean(spec.log);
  let [low, high] = spec.range ?? extent(log ? values.filter((value) => value > 0) : values);
  if (log && low === 0) low = high / 10;
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  if (!spec.tight && !log) [low, high] = [low - 0.04 * (high - low), high + 0.04 * (high - low)];
  const scale = log ? Math.log10 : (value) => value;
  const place = (value) => from + ((scale(value) - scale(low)) / (scale(high) - scale(low))) * (to - from);
  return { place, log, ticks: log ? powers(low, high, count) : ticks(low, high, count) };
}

function route(points) {
  let path = "", open = false;
  for (const [x, y] of points) {
    if (y === null || Number.isNaN(y)) { open = false; continue; }
    path += `${open ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
    open = true;
  }
  return path;
}

// Half way between neighbours, and as far beyond the ends.
function edges(x) {
  if (x.length === 1) return [x[0] - 0.5, x[0] + 0.5];
  const middles = x.slice(1).map((value, k) => (value + x[k]) / 2);
  return [2 * x[0] - middles[0], ...middles, 2 * x[x.length - 1] - middles[middles.length - 1]];
}

function mark(item, horizontal, vertical) {
  const color = `var(--${item.color})`;
  const at = (value) => (value === null || (vertical.log && value <= 0) ? null : vertical.place(value));
  const line = (points, more = {}) =>
    shape("path", { d: route(points), fill: "none", stroke: color, "stroke-width": 1.8, "stroke-linejoin": "round", ...(item.dash ? { "stroke-dasharray": "5 4" } : {}), ...more });
  if (item.kind === "steps") {
    const ends = edges(item.x).map(horizontal.place);
    return line(item.y.flatMap((value, k) => [[ends[k], at(value)], [ends[k + 1], at(value)]]));
  }
  const points = item.x.map((value, k) => [horizontal.place(value), at(item.y[k])]);
  if (item.kind === "line") return line(points);
  const group = shape("g");
  const zero = at(0);
  for (const [x, y] of points) {
    if (y === null) continue;
    if (item.kind === "stems") group.append(shape("line", { x1: x, x2: x, y1: zero, y2: y, stroke: color, "stroke-width": 1.5 }));
    group.append(shape("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: item.kind === "stems" ? 2.4 : 2, fill: color, ...(item.kind === "points" ? { "fill-opacity": 0.55 } : {}) }));
  }
  return group;
}

function legend(marks) {
  const named = marks.filter((item) => item.label);
  const entries = named.map((item) => {
    const swatch = make("span", { className: item.kind === "points" ? "dot" : item.dash ? "stroke dashed" : "stroke" });
    swatch.style.color = `var(--${item.color})`;
    return make("span", { className: "entry" }, swatch, item.label);
  });
  return make("div", { className: "legend" }, ...(named.length > 1 ? entries : []));
}

// {kind: "chart", marks: [{kind, x, y, color, label, dash}], x: {label, log, range, tight}, y: {...}, names, title}
function chart(spec) {
  const holder = make("div", { className: "chart" });
  const readout = make("p", { className: "readout note" });
  readout.setAttribute("aria-hidden", "true");
  const height = spec.height ?? 260;
  let width = 0;

  function render() {
    width = holder.clientWidth;
    if (!width) return;
    const left = 58, bottom = height - 40, top = 10, right = width - 12;
    const horizontal = axis({ tight: true, ...spec.x }, spec.marks.flatMap((item) => (item.kind === "steps" ? edges(item.x) : item.x)), left, right, width < 500 ? 4 : 8);
    const heights = spec.marks.flatMap((item) => (item.kind === "stems" ? [...item.y, 0] : item.y));
    const vertical = axis(spec.y ?? {}, heights, bottom, top, 5);
    const svg = shape("svg", { width, height, role: "img", "aria-label": spec.title });
    for (const value of vertical.ticks) {
      const y = vertical.place(value);
      svg.append(shape("line", { x1: left, x2: right, y1: y, y2: y, class: value === 0 ? "zero" : "grid" }),
        shape("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, label(value)));
    }
    for (const value of horizontal.ticks) {
      const x = horizontal.place(value);
      svg.append(shape("line", { x1: x, x2: x, y1: top, y2: bottom, class: "grid" }),
        shape("text", { x, y: bottom + 16, "text-anchor": "middle" }, label(value)));
    }
    svg.append(shape("text", { x: right, y: height - 6, "text-anchor": "end", class: "title" }, spec.x?.label ?? ""));
    for (const item of spec.marks) svg.append(mark(item, horizontal, vertical));
    const cursor = shape("line", { y1: top, y2: bottom, class: "cursor", visibility: "hidden" });
    svg.append(cursor);
    svg.addEventListener("pointermove", (event) => {
      const item = spec.marks.reduce((one, other) => (other.x.length > one.x.length ? other : one));
      const place = event.clientX - svg.getBoundingClientRect().left;
      const near = item.x.reduce((best, value, k) => (Math.abs(horizontal.place(value) - place) < Math.abs(horizontal.place(item.x[best]) - place) ? k : best), 0);
      cursor.setAttribute("x1", horizontal.place(item.x[near]));
      cursor.setAttribute("x2", horizontal.place(item.x[near]));
      cursor.setAttribute("visibility", "visible");
      const values = spec.marks.filter((other) => other.x[near] === item.x[near])
        .map((other) => `${other.label ?? spec.y?.label ?? "value"} ${short(other.y[near])}`);
      readout.textContent = `${spec.names?.[near] ?? `${spec.x?.label ?? "x"} ${label(item.x[near])}`}: ${values.join(", ")}`;
    });
    svg.addEventListener("pointerleave", () => cursor.setAttribute("visibility", "hidden"));
    holder.replaceChildren(svg);
  }

  new ResizeObserver(() => { if (holder.clientWidth !== width) render(); }).observe(holder);
  const figure = make("figure", {}, make("div", { className: "above" }, make("p", { className: "ylabel" }, spec.y?.label ?? ""), readout), holder, legend(spec.marks));
  if (spec.caption) figure.append(make("figcaption", {}, spec.caption));
  return { figure, change(next) { Object.assign(spec, next); render(); } };
}

const rgb = (text) => {
  const probe = make("canvas", { width: 1, height: 1 }).getContext("2d");
  probe.fillStyle = text;
  probe.fillRect(0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const mix = (one, other, share) => one.map((value, k) => Math.round(value + share * (other[k] - value)));

// From blue over the colour of the page to orange where `signed`, from the colour of the page to blue otherwise.
function paint(canvas, values, low, high, signed) {
  const middle = rgb(tone("card")), cold = rgb(tone("blue")), warm = rgb(tone("orange"));
  const context = canvas.getContext("2d");
  [canvas.height, canvas.width] = [values.length, values[0].length];
  const image = context.createImageData(canvas.width, canvas.height);
  values.flat().forEach((value, k) => {
    const share = value === null ? 0 : signed ? value / (high || 1) : Math.max(0, (value - low) / (high - low || 1));
    image.data.set([...mix(middle, share < 0 || !signed ? cold : warm, Math.min(1, Math.abs(share))), 255], 4 * k);
  });
  context.putImageData(image, 0, 0);
}

// {kind: "images", panels: [{title, values}], limit}: one scale for all panels.
function images(spec) {
  const canvases = spec.panels.map((panel) => {
    const canvas = make("canvas", { className: "image" });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", panel.title);
    return canvas;
  });
  const render = () => canvases.forEach((canvas, k) => paint(canvas, spec.panels[k].values, -spec.limit, spec.limit, true));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
  render();
  const panels = canvases.map((canvas, k) => make("div", {}, make("p", { className: "note" }, spec.panels[k].title), canvas));
  const scale = make("p", { className: "note" }, `Blue is negative, orange positive; full colour is ${short(spec.limit, 3)}.`);
  return { figure: make("figure", {}, make("div", { className: "images" }, ...panels), scale), change(next) { Object.assign(spec, next); render(); } };
}
