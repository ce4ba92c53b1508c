// Pictures of the built-in environments: each gives an element and a function that moves it to a state,
// with the value of the action that is applied there, or null.

// A push from the side of something `gap` wide on either side; none if it has no strength.
const arrow = (x, y, gap, strength) => {
  if (!strength) return [];
  const length = strength * 46;
  x += Math.sign(strength) * gap;
  const head = Math.sign(length) * 9;
  return [
    svg("line", { class: "push", x1: x, y1: y, x2: x + length - head / 2, y2: y }),
    svg("path", { class: "push-head", d: `M${x + length} ${y} l${-head} -6 v12 z` }),
  ];
};
// A torque about a point, counter-clockwise if it is positive.
const turn = (x, y, strength) => {
  if (!strength) return [];
  const side = strength > 0 ? -1 : 1;
  const around = svg("g", { transform: `translate(${x} ${y})`, opacity: Math.max(Math.abs(strength), 0.3) });
  around.append(
    svg("path", { class: "push", d: `M${-30 * side} 22 A37 37 0 0 ${side < 0 ? 0 : 1} ${30 * side} 22` }),
    svg("path", { class: "push-head", transform: `translate(${30 * side} 22) rotate(${side * 130})`, d: "M9 0 l-14 -7 v14 z" }),
  );
  return [around];
};
const stage = (viewBox) => svg("svg", { viewBox, width: "100%", role: "img", style: "max-height: 20rem" });
const hill = (goal, strength) => {
  const height = (x) => -Math.sin(3 * x) * 110;
  const root = stage("-265 -150 420 290");
  const ground = [];
  for (let x = -1.2; x <= 0.601; x += 0.02) ground.push([x * 215, height(x) + 14]);
  const flag = [goal * 215, height(goal) + 14];
  root.append(
    svg("path", { class: "ground-line", d: line(ground) }),
    svg("line", { class: "ground-line", x1: flag[0], x2: flag[0], y1: flag[1], y2: flag[1] - 44 }),
    svg("path", { class: "goal", d: `M${flag[0]} ${flag[1] - 44} l26 8 l-26 9 z` }),
  );
  const moving = svg("g");
  root.append(moving);
  return [root, ([position], value) => {
    const [x, y] = [position * 215, height(position)];
    const slope = (Math.atan(-Math.cos(3 * position) * 3 * 110 / 215) * 180) / Math.PI;
    const car = svg("g", { transform: `translate(${x} ${y}) rotate(${slope})` });
    car.append(svg("rect", { class: "body", x: -19, y: -10, width: 38, height: 16, rx: 5 }));
    for (const wheel of [-11, 11]) car.append(svg("circle", { class: "rod", "stroke-width": 3, cx: wheel, cy: 8, r: 5 }));
    if (value !== null) car.append(...arrow(0, -2, 23, strength(value)));
    moving.replaceChildren(car);
  }];
};
const scenes = {
  cartpole: () => {
    const root = stage("-300 -190 600 240");
    root.append(svg("line", { class: "ground-line", x1: -288, x2: 288, y1: 20, y2: 20 }));
    for (const limit of [-2.4, 2.4]) root.append(svg("line", { class: "cursor", x1: limit * 110, x2: limit * 110, y1: 5, y2: 35 }));
    const moving = svg("g");
    root.append(moving);
    return [root, ([x, , theta], value) => {
      const cart = x * 110;
      const pole = svg("line", { class: "rod", "stroke-width": 9, x1: cart, y1: -8, x2: cart + 150 * Math.sin(theta), y2: -8 - 150 * Math.cos(theta) });
      const box = svg("rect", { class: "body", x: cart - 34, y: -14, width: 68, height: 30, rx: 5 });
      moving.replaceChildren(box, pole, ...arrow(cart, 1, 38, value === null ? 0 : 2 * value - 1));
    }];
  },
  "mountain-car": () => hill(0.5, (value) => value - 1),
  "mountain-car-continuous": () => hill(0.45, (value) => value),
  pendulum: () => {
    const root = stage("-160 -160 320 320");
    root.append(svg("circle", { class: "ground-line", r: 140, "stroke-dasharray": "3 6" }));
    root.append(svg("path", { class: "goal", d: "M0 -140 l-7 -14 h14 z" }));
    const moving = svg("g");
    root.append(moving);
    return [root, ([angle], value) => {
      const [x, y] = [-Math.sin(angle) * 130, -Math.cos(angle) * 130];
      moving.replaceChildren(
        svg("line", { class: "rod", "stroke-width": 16, x1: 0, y1: 0, x2: x, y2: y }),
        svg("circle", { class: "body", r: 7 }),
        ...turn(0, 0, value === null ? 0 : value / 2),
      );
    }];
  },
  acrobot: () => {
    const root = stage("-160 -160 320 320");
    root.append(svg("line", { class: "cursor", x1: -150, x2: 150, y1: -70, y2: -70 }));
    const moving = svg("g");
    root.append(moving);
    return [root, ([cos1, sin1, cos2, sin2], value) => {
      const [x1, y1] = [sin1 * 70, cos1 * 70];
      const [x2, y2] = [x1 + (sin1 * cos2 + cos1 * sin2) * 70, y1 + (cos1 * cos2 - sin1 * sin2) * 70];
      const link = (from, to) => svg("line", { class: "rod", "stroke-width": 12, x1: from[0], y1: from[1], x2: to[0], y2: to[1] });
      moving.replaceChildren(
        link([0, 0], [x1, y1]),
        link([x1, y1], [x2, y2]),
        svg("circle", { class: "body", r: 6 }),
        svg("circle", { class: "body", r: 6, cx: x1, cy: y1 }),
        ...turn(x1, y1, value === null ? 0 : value - 1),
      );
    }];
  },
};
