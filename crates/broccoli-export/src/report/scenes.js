// Pictures of the built-in environments: each gives an element and a function that moves it to a state,
// with the action that is applied there, or null.

const arrow = (x, y, length) => {
  const head = Math.sign(length) * 9;
  return [
    svg("line", { class: "push", x1: x, y1: y, x2: x + length - head / 2, y2: y }),
    svg("path", { class: "push-head", d: `M${x + length} ${y} l${-head} -6 v12 z` }),
  ];
};
const stage = (viewBox) => svg("svg", { viewBox, width: "100%", role: "img", style: "max-height: 20rem" });
const scenes = {
  cartpole: () => {
    const root = stage("-300 -190 600 240");
    root.append(svg("line", { class: "ground-line", x1: -288, x2: 288, y1: 20, y2: 20 }));
    for (const limit of [-2.4, 2.4]) root.append(svg("line", { class: "cursor", x1: limit * 110, x2: limit * 110, y1: 5, y2: 35 }));
    const moving = svg("g");
    root.append(moving);
    return [root, ([x, , theta], which) => {
      const cart = x * 110;
      const pole = svg("line", { class: "rod", "stroke-width": 9, x1: cart, y1: -8, x2: cart + 150 * Math.sin(theta), y2: -8 - 150 * Math.cos(theta) });
      const box = svg("rect", { class: "body", x: cart - 34, y: -14, width: 68, height: 30, rx: 5 });
      moving.replaceChildren(box, pole, ...(which === null ? [] : arrow(cart + (which ? 38 : -38), 1, which ? 46 : -46)));
    }];
  },
  "mountain-car": () => {
    const height = (x) => -Math.sin(3 * x) * 110;
    const root = stage("-265 -150 420 290");
    const hill = [];
    for (let x = -1.2; x <= 0.601; x += 0.02) hill.push([x * 215, height(x) + 14]);
    const flag = [0.5 * 215, height(0.5) + 14];
    root.append(
      svg("path", { class: "ground-line", d: line(hill) }),
      svg("line", { class: "ground-line", x1: flag[0], x2: flag[0], y1: flag[1], y2: flag[1] - 44 }),
      svg("path", { class: "goal", d: `M${flag[0]} ${flag[1] - 44} l26 8 l-26 9 z` }),
    );
    const moving = svg("g");
    root.append(moving);
    return [root, ([position], which) => {
      const [x, y] = [position * 215, height(position)];
      const slope = (Math.atan(-Math.cos(3 * position) * 3 * 110 / 215) * 180) / Math.PI;
      const car = svg("g", { transform: `translate(${x} ${y}) rotate(${slope})` });
      car.append(svg("rect", { class: "body", x: -19, y: -10, width: 38, height: 16, rx: 5 }));
      for (const wheel of [-11, 11]) car.append(svg("circle", { class: "rod", "stroke-width": 3, cx: wheel, cy: 8, r: 5 }));
      if (which !== null) car.append(...arrow(which ? 23 : -23, -2, which ? 40 : -40));
      moving.replaceChildren(car);
    }];
  },
  pendulum: () => {
    const root = stage("-160 -160 320 320");
    root.append(svg("circle", { class: "ground-line", r: 140, "stroke-dasharray": "3 6" }));
    root.append(svg("path", { class: "goal", d: "M0 -140 l-7 -14 h14 z" }));
    const moving = svg("g");
    root.append(moving);
    return [root, ([angle], which) => {
      const [x, y] = [-Math.sin(angle) * 130, -Math.cos(angle) * 130];
      const turn = [];
      if (which !== null) {
        const side = which ? -1 : 1; // a positive torque turns counter-clockwise
        turn.push(svg("path", { class: "push", d: `M${-30 * side} 22 A37 37 0 0 ${which ? 0 : 1} ${30 * side} 22` }));
        turn.push(svg("path", { class: "push-head", transform: `translate(${30 * side} 22) rotate(${side * 130})`, d: "M9 0 l-14 -7 v14 z" }));
      }
      moving.replaceChildren(
        svg("line", { class: "rod", "stroke-width": 16, x1: 0, y1: 0, x2: x, y2: y }),
        svg("circle", { class: "body", r: 7 }),
        ...turn,
      );
    }];
  },
};
