// Draws what moves in a report, from the JSON in the page. Text only ever enters the page as text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { nodes, dimensions, actions, observed } = data;
  const byId = (id) => document.getElementById(id);
  const colours = 8;

  // What the reader has chosen: a trace, a place in it, and perhaps a node of the tree.
  const chosen = { trace: observed ? observed.deciding : 0, index: 0, node: null };
  const views = [];
  const show = (what) => views.forEach((view) => view(what));

  const action = (leaf) => nodes[leaf].action;
  const path = (leaf) => {
    const list = [];
    for (let node = leaf; node !== null && node !== undefined; node = nodes[node].parent) list.push(node);
    return list;
  };
  const trace = () => observed.traces[chosen.trace];
  const stepAt = (run, index) => Math.min(index * run.stride, run.steps);
  const indexAt = (run, step) => Math.min(Math.round(step / run.stride), run.leaves.length - 1);
  const leafAt = (run, index) => run.leaves[index];
  const stateAt = (run, index) => run.states.map((values) => values[index]);

  // The values of a dimension that have to be in view: those seen and those asked for.
  const extent = (d) => {
    let [low, high] = [Infinity, -Infinity];
    const see = (value) => {
      if (!drawable(value)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    observed.traces.forEach((run) => run.states[d].forEach(see));
    nodes.forEach((node) => node.dimension === d && see(node.threshold));
    if (low > high) return [-1, 1]; // nothing that could be drawn
    const margin = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
    return [low - margin, high + margin];
  };
  const thresholds = (d) => [...new Set(nodes.filter((node) => node.dimension === d).map((node) => node.threshold))].sort((a, b) => b - a);
  // A long trace is drawn with a finer line, or it would hide what is behind it.
  const traceClass = (run) => (run.leaves.length > 600 ? "trace fine" : "trace");
  // A path of all other traces, with few enough points to be quick.
  const others = (point) => {
    const rest = observed.traces.filter((run) => run !== trace());
    const total = rest.reduce((sum, run) => sum + run.leaves.length, 0);
    const every = Math.max(1, Math.ceil(total / 6000));
    return rest
      .map((run) => {
        const points = [];
        for (let i = 0; i < run.leaves.length; i += every) points.push(point(run, i));
        return line(points);
      })
      .join("");
  };

  // ---- the tree

  const nodeElements = [...document.querySelectorAll("#tree [data-node]")];
  const edgeElements = [...document.querySelectorAll("#tree [data-edge]")];

  const describe = (i) => {
    const label = nodeElements[i].querySelector("title").textContent;
    if (!observed) return label;
    const { states, yes, steps } = observed.nodes[i];
    const all = observed.nodes[0].states;
    if (!states) return `${label}: no state of any trace comes here.`;
    const share = all ? Math.round((100 * states) / all) : 0;
    const split = "dimension" in nodes[i] ? `, ${number(yes)} yes and ${number(states - yes)} no` : "";
    return `${label}: ${number(states)} of ${number(all)} states pass (${share} %)${split}; steps ${number(steps[0])} to ${number(steps[1])}.`;
  };
  const choose = (i) => {
    chosen.node = i;
    show("node");
  };
  const labels = nodeElements.map((_, i) => describe(i));
  nodeElements.forEach((element, i) => {
    element.querySelector("title").remove(); // the paragraph below says more
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", labels[i]);
    element.addEventListener("pointerenter", () => choose(i));
    element.addEventListener("pointerleave", () => choose(null));
    element.addEventListener("focus", () => choose(i));
    element.addEventListener("blur", () => choose(null));
  });
  const drawing = document.querySelector("#tree svg");
  if (drawing) drawing.setAttribute("role", "group"); // its nodes are read one by one
  views.push(() => {
    const leaf = observed ? leafAt(trace(), chosen.index) : null;
    const active = new Set(leaf === null ? [] : path(leaf));
    nodeElements.forEach((element, i) => {
      element.classList.toggle("active", active.has(i));
      element.classList.toggle("chosen", chosen.node === i);
    });
    edgeElements.forEach((element) => element.classList.toggle("active", active.has(Number(element.dataset.edge))));
    byId("node").textContent =
      chosen.node === null ? "Point at a node, or move to it with the Tab key." : labels[chosen.node];
  });

  // ---- the course of the search

  const history = data.history || [];
  if (history.length) {
    byId("anytime").hidden = false;
    const box = byId("curve");
    const draw = fitted(box, (width) => {
      const height = 240;
      const [left, right, top, bottom] = [64, 28, 12, 36];
      const key = byId("against").value;
      const end = Math.max(data[key], ...history.map((moment) => moment[key]));
      const first = Math.max(Math.min(...history.map((moment) => moment[key])), end / 1e5, 1e-6);
      const x = scale(Math.log10(first), Math.log10(Math.max(end, first * 1.01)), left, width - right);
      const at = (moment) => x(Math.log10(Math.max(moment[key], first)));
      const series = { value: [], bound: [] };
      for (const moment of history)
        for (const name of ["value", "bound"]) if (moment[name] !== undefined) series[name].push([moment, moment[name]]);
      const last = { [key]: end };
      for (const name of ["value", "bound"]) if (data[name] !== null) series[name].push([last, data[name]]);
      const seen = [...series.value, ...series.bound].map(([, value]) => value);
      const low = Math.min(...seen);
      const high = Math.max(...seen);
      const y = scale(low - (high - low) * 0.05, high + (high - low) * 0.05 || high + 1, height - bottom, top);
      const chart = svg("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
      chart.append(svg("title", {}, `Best value and bound against ${key}`));
      for (const tick of ticks(low, high, 5))
        chart.append(
          svg("line", { class: "axis", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
          svg("text", { class: "tick", x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, number(tick)),
        );
      for (let power = Math.ceil(Math.log10(first)); power <= Math.log10(end); power++)
        chart.append(svg("text", { class: "tick", x: x(power), y: height - 18, "text-anchor": "middle" }, number(10 ** power)));
      chart.append(svg("text", { class: "tick", x: width - right, y: height - 3, "text-anchor": "end" }, `${key} →`));
      const stairs = (points) =>
        points.flatMap(([moment, value], i) => (i ? [[at(moment), y(points[i - 1][1])], [at(moment), y(value)]] : [[at(moment), y(value)]]));
      const name = { value: "best", bound: "bound" };
      for (const kind of ["value", "bound"]) {
        if (!series[kind].length) continue;
        chart.append(svg("path", { class: name[kind], d: line(stairs(series[kind])) }));
        const [moment, value] = series[kind][0];
        const above = (kind === "value") === (data.minimised);
        const side = at(moment) > width / 2 ? { x: at(moment) - 6, "text-anchor": "end" } : { x: at(moment) + 6 };
        chart.append(svg("text", { class: `${name[kind]}-label`, y: y(value) + (above ? 14 : -6), ...side }, name[kind]));
      }
      box.replaceChildren(chart);
    });
    byId("against").addEventListener("change", draw);
    draw();
  }

  const save = byId("save");
  if (save) {
    save.hidden = false;
    save.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([byId("problem").textContent], { type: "application/toml" }));
      link.download = "problem.toml";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  if (!observed) {
    show("all");
    return;
  }

  // ---- controls

  byId("controls").hidden = false;
  byId("time").hidden = false;
  const scrubber = byId("scrubber");
  const initial = (i) => {
    const values = data.initial[i].map(number);
    return values.length > 4 ? `${values.slice(0, 4).join(", ")}, …` : values.join(", ");
  };
  observed.traces.forEach((run, i) => {
    const value = run.value === null ? run.end : number(run.value);
    const worst = i === observed.deciding && observed.traces.length > 1 ? ", the worst" : "";
    byId("trace").append(option(i, `${run.initial}: ${initial(i)} (${value}${worst})`));
  });
  byId("trace").value = chosen.trace;
  byId("trace").addEventListener("change", (event) => {
    chosen.trace = Number(event.target.value);
    chosen.index = 0;
    show("trace");
  });
  const move = (index) => {
    chosen.index = Math.min(Math.max(index, 0), trace().leaves.length - 1);
    show("index");
  };
  scrubber.addEventListener("input", () => move(Number(scrubber.value)));
  const play = byId("play");
  let playing = null;
  const stop = () => {
    cancelAnimationFrame(playing);
    playing = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  };
  play.addEventListener("click", () => {
    if (playing !== null) return stop();
    const count = trace().leaves.length - 1;
    const rate = count / Math.min(Math.max(count / 25, 3), 20); // the whole trace in 3 to 20 seconds
    const start = chosen.index >= count ? 0 : chosen.index;
    const began = performance.now();
    const frame = (now) => {
      const index = start + Math.floor(((now - began) / 1000) * rate);
      move(index);
      if (index >= count) return stop();
      playing = requestAnimationFrame(frame);
    };
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    playing = requestAnimationFrame(frame);
  });
  views.push((what) => {
    const run = trace();
    if (what === "trace") stop();
    scrubber.max = run.leaves.length - 1;
    scrubber.value = chosen.index;
    const now = `${number(stepAt(run, chosen.index))} of ${number(run.steps)}`;
    byId("now").textContent = `${now} steps`;
    scrubber.setAttribute("aria-valuetext", now);
  });
  actions.forEach((name, i) => {
    const item = document.createElement("span");
    item.className = `a${i % colours}`;
    item.append(document.createElement("i"), name);
    byId("legend").append(item);
  });

  // ---- traces over time

  const timePlot = (box, d) => {
    const [left, right] = [64, 74];
    const height = d === null ? 26 : 130;
    const [top, bottom] = d === null ? [4, 4] : [10, 20];
    let cursor = null;
    let spot = null;
    let shades = null;
    let x = null;
    let y = null;
    const draw = fitted(box, (width) => {
      const run = trace();
      x = scale(0, Math.max(run.steps, 1), left, width - right);
      const chart = svg("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
      shades = svg("g");
      cursor = svg("line", { class: "cursor", y1: 0, y2: height });
      if (d === null) {
        chart.append(svg("title", {}, "Actions over time"), svg("text", { class: "tick", x: left - 8, y: 17, "text-anchor": "end" }, "action"));
        pixels(width, (leaf) => (leaf === null ? null : action(leaf))).forEach(([from, to, which]) =>
          chart.append(svg("rect", { class: `action a${which % colours}`, x: from, y: top, width: to - from, height: height - top - bottom })),
        );
        chart.append(cursor);
      } else {
        const [low, high] = extent(d);
        y = scale(low, high, height - bottom, top);
        chart.append(svg("title", {}, `${dimensions[d]} over time`), shades);
        for (const tick of ticks(low, high, 3))
          chart.append(
            svg("line", { class: "axis", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
            svg("text", { class: "tick", x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, number(tick)),
          );
        for (const tick of ticks(0, run.steps, Math.max(2, width / 140)))
          chart.append(svg("text", { class: "tick", x: x(tick), y: height - 5, "text-anchor": "middle" }, number(tick)));
        const clip = svg("clipPath", { id: `clip-${d}` }, svg("rect", { x: left, y: 0, width: width - left - right, height }));
        const point = (other, i) => [x(stepAt(other, i)), y(other.states[d][i])];
        chart.append(
          svg("defs", {}, clip),
          svg("path", { class: "others", d: others(point), "clip-path": `url(#clip-${d})` }),
          svg("path", { class: traceClass(run), d: line(run.leaves.map((_, i) => point(run, i))) }),
        );
        let free = -Infinity; // labels of close thresholds make room for each other
        for (const t of thresholds(d)) {
          free = Math.max(free + 11, y(t) + 4);
          chart.append(
            svg("line", { class: "threshold", x1: left, x2: width - right, y1: y(t), y2: y(t) }),
            svg("text", { class: "threshold-label", x: width - right + 6, y: free }, `≥ ${number(t)}`),
          );
        }
        spot = svg("circle", { class: "spot", r: 4.5 });
        chart.append(cursor, spot);
      }
      chart.addEventListener("pointerdown", jump);
      chart.addEventListener("pointermove", (event) => event.buttons && jump(event));
      box.replaceChildren(chart);
      follow();
    });
    const jump = (event) => move(indexAt(trace(), x.back(event.clientX - box.getBoundingClientRect().left)));
    // Runs of pixels with the same answer, none where it is null.
    const pixels = (width, of) => {
      const run = trace();
      const runs = [];
      for (let pixel = left; pixel < width - right; pixel++) {
        const index = Math.min(Math.floor(x.back(pixel + 0.5) / run.stride), run.leaves.length - 1);
        const what = of(leafAt(run, index));
        const previous = runs[runs.length - 1];
        if (previous && previous[2] === what) previous[1] = pixel + 1;
        else runs.push([pixel, pixel + 1, what]);
      }
      return runs.filter(([, , what]) => what !== null);
    };
    const follow = () => {
      const run = trace();
      const place = x(stepAt(run, chosen.index));
      cursor.setAttribute("x1", place);
      cursor.setAttribute("x2", place);
      if (d === null) return;
      spot.setAttribute("cx", place);
      spot.setAttribute("cy", y(run.states[d][chosen.index]));
      const passes = (leaf) => (leaf !== null && path(leaf).includes(chosen.node) ? true : null);
      const runs = chosen.node === null ? [] : pixels(box.clientWidth || 600, passes);
      shades.replaceChildren(
        ...runs.map(([from, to]) => svg("rect", { class: "shade", x: from, y: top, width: to - from, height: height - top - bottom })),
      );
    };
    views.push((what) => (what === "trace" || what === "all" ? draw() : follow()));
  };
  const addPlot = (title, d) => {
    const [heading, box] = [document.createElement("p"), document.createElement("div")];
    heading.className = "quiet";
    heading.style.margin = "0";
    heading.textContent = title;
    box.dataset.dimension = d === null ? "actions" : d;
    byId("plots").append(heading, box);
    timePlot(box, d);
  };
  dimensions.forEach((name, d) => addPlot(name, d));
  addPlot("", null);

  // ---- the state space

  if (dimensions.length > 1) {
    byId("partition").hidden = false;
    const used = [...new Set(nodes.filter((node) => "dimension" in node).map((node) => node.dimension))];
    const pair = [...used, ...dimensions.keys()].filter((d, i, all) => all.indexOf(d) === i).slice(0, 2).sort((a, b) => a - b);
    for (const id of ["across", "up"]) dimensions.forEach((name, d) => byId(id).append(option(d, name)));
    byId("across").value = pair[0];
    byId("up").value = pair[1];
    const box = byId("plane");
    let parts = null;
    const draw = fitted(box, (width) => {
      const height = Math.min(Math.max(width * 0.75, 260), 420);
      const [left, right, top, bottom] = [64, 12, 10, 34];
      const [i, j] = [Number(byId("across").value), Number(byId("up").value)];
      const [across, up] = [extent(i), extent(j)];
      const x = scale(...across, left, width - right);
      const y = scale(...up, height - bottom, top);
      const chart = svg("svg", { class: "plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
      chart.append(svg("title", {}, `${dimensions[j]} against ${dimensions[i]}: the action in each part of the state space, and the traces`));
      const regions = svg("g");
      const point = (run, k) => [x(run.states[i][k]), y(run.states[j][k])];
      const run = trace();
      const spot = svg("circle", { class: "spot", r: 5 });
      const [x0, y0] = point(run, 0);
      chart.append(regions);
      for (const tick of ticks(...across, Math.max(2, width / 110)))
        chart.append(svg("text", { class: "tick", x: x(tick), y: height - 18, "text-anchor": "middle" }, number(tick)));
      for (const tick of ticks(...up, 5))
        chart.append(svg("text", { class: "tick", x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, number(tick)));
      chart.append(
        svg("text", { class: "tick", x: width - right, y: height - 4, "text-anchor": "end" }, `${dimensions[i]} →`),
        svg("text", { class: "tick", x: 2, y: 10 }, `↑ ${dimensions[j]}`),
        svg("path", { class: "others", d: others(point) }),
        svg("path", { class: traceClass(run), d: line(run.leaves.map((_, k) => point(run, k))) }),
        svg("circle", { class: "start", r: 4, cx: x0, cy: y0 }),
        spot,
      );
      box.replaceChildren(chart);
      parts = { i, j, x, y, across, up, regions, spot };
      follow();
    });
    // The boxes of the leaves where all other dimensions have the values of the present state.
    const leaves = (node, low, high, state, list) => {
      const { dimension, threshold, yes, no } = nodes[node];
      const { i, j } = parts;
      if (dimension === undefined) list.push([node, low, high]);
      else if (dimension !== i && dimension !== j) leaves(state[dimension] >= threshold ? yes : no, low, high, state, list);
      else {
        const replaced = (limits, value) => limits.map((limit, k) => ([i, j][k] === dimension ? value(limit) : limit));
        const above = replaced(low, (limit) => Math.max(limit, threshold));
        const below = replaced(high, (limit) => Math.min(limit, threshold));
        if (above.every((limit, k) => limit < high[k])) leaves(yes, above, high, state, list);
        if (below.every((limit, k) => limit > low[k])) leaves(no, low, below, state, list);
      }
      return list;
    };
    const follow = () => {
      const { i, j, x, y, across, up, regions, spot } = parts;
      const state = stateAt(trace(), chosen.index);
      const boxes = leaves(0, [across[0], up[0]], [across[1], up[1]], state, []);
      regions.replaceChildren(
        ...boxes.map(([leaf, low, high]) => {
          const mark = chosen.node !== null && path(leaf).includes(chosen.node) ? " chosen" : "";
          const [x0, y0] = [x(low[0]), y(high[1])];
          const size = { x: x0, y: y0, width: Math.max(x(high[0]) - x0, 0), height: Math.max(y(low[1]) - y0, 0) };
          const region = svg("rect", { class: `region a${action(leaf) % colours}${mark}`, ...size });
          region.append(svg("title", {}, actions[action(leaf)]));
          return region;
        }),
      );
      spot.setAttribute("cx", x(state[i]));
      spot.setAttribute("cy", y(state[j]));
      const rest = used.filter((d) => d !== i && d !== j).map((d) => `${dimensions[d]} = ${number(state[d])}`);
      byId("slice").textContent = rest.length ? `The slice through the present state: ${rest.join(", ")}.` : "";
    };
    for (const [id, other] of [["across", "up"], ["up", "across"]])
      byId(id).addEventListener("change", () => {
        // A dimension against itself shows nothing: the two change places.
        if (byId(id).value === byId(other).value) byId(other).value = id === "across" ? parts.i : parts.j;
        draw();
      });
    views.push((what) => (what === "trace" || what === "all" ? draw() : follow()));
  }

  // ---- the animation

  if (Object.hasOwn(scenes, data.system)) {
    byId("animation").hidden = false;
    const [scene, update] = scenes[data.system]();
    scene.prepend(svg("title", {}, `${data.system} in the present state`));
    byId("scene").append(scene);
    views.push(() => {
      const run = trace();
      const leaf = leafAt(run, chosen.index);
      const state = stateAt(run, chosen.index);
      update(state, leaf === null ? null : data.values[action(leaf)]);
      const values = dimensions.map((name, d) => `${name} ${number(state[d])}`).join(", ");
      const doing = leaf === null ? `the end: ${run.end}` : actions[action(leaf)];
      byId("doing").textContent = `${values} → ${doing}`;
    });
  }

  show("all");
})();
