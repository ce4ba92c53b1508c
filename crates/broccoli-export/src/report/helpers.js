"use strict";
// What every drawing in a report needs: elements, numbers, scales, lines.

const svg = (name, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const option = (value, text) => new Option(text, value);
const number = (value) => {
  if (Number.isInteger(value)) return (value || 0).toLocaleString("en"); // -0 is 0
  return String(Number(value.toPrecision(4)));
};
const drawable = (value) => Math.abs(value) < 1e300;
const scale = (from, to, start, end) => {
  const span = to - from || 1;
  const place = (value) => start + ((Math.min(Math.max(value, from - span), to + span) - from) / span) * (end - start);
  place.back = (pixel) => from + ((pixel - start) / (end - start)) * span;
  return place;
};
const ticks = (from, to, count) => {
  const rough = (to - from) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
  const first = Math.ceil(from / step - 1e-9);
  const list = Array.from({ length: 3 * Math.ceil(count) }, (_, i) => (first + i) * step);
  return list.filter((tick) => tick <= to + step * 1e-9);
};
const line = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
// Redraws a box when its width changes.
const fitted = (box, draw) => {
  let width = 0;
  const redraw = () => {
    if (box.clientWidth && box.clientWidth !== width) draw((width = box.clientWidth));
  };
  new ResizeObserver(redraw).observe(box);
  return () => draw((width = box.clientWidth || 600));
};
