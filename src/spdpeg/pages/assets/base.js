"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const short = (value, digits = 5) => (value === null ? "–" : String(Number(value.toPrecision(digits))));

function facts(value) {
  if (value === null || typeof value !== "object") return document.createTextNode(value === null ? "–" : String(value));
  if (Array.isArray(value)) return document.createTextNode(value.map((item) => (typeof item === "object" ? JSON.stringify(item) : item)).join("  "));
  const rows = Object.entries(value).map(([name, item]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, facts(item))));
  return make("table", {}, make("tbody", {}, ...rows));
}
