// Names beside dots, none on another.

const letters = document.createElement("canvas").getContext("2d");

function widthOf(text) {
  letters.font = "12px system-ui, sans-serif";
  return letters.measureText(text).width + 2;
}

const meet = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

// placeNames finds a box for the name of each dot {x, y, name}, within an area, on no other name and on no dot: near its own at first, and ever farther away.
function placeNames(dots, area) {
  const taken = dots.map((d) => ({ x: d.x - 7, y: d.y - 7, w: 14, h: 14 }));
  return dots.map((dot) => {
    const w = widthOf(dot.name), h = 15;
    for (let far = 9; far < 1200; far += 5) {
      const ways = far < 12 ? 4 : 16;
      for (let i = 0; i < ways; i++) {
        // To the right and to the left first, then above and below, then between.
        const turn = ways === 4 ? [0, 2, 3, 1][i] / 4 : i / 16;
        const dx = Math.cos(2 * Math.PI * turn), dy = Math.sin(2 * Math.PI * turn);
        const box = { x: dot.x + dx * (far + w / 2) - w / 2, y: dot.y + dy * (far + h / 2) - h / 2, w, h, far };
        if (box.x < area.x || box.y < area.y || box.x + w > area.x + area.w || box.y + h > area.y + area.h) continue;
        if (taken.some((t) => meet(t, box))) continue;
        taken.push(box);
        return box;
      }
    }
    return null; // there is no room at all: those who point at it read it
  });
}

// names writes them, with a line to the dot where that is not near. Lines are below all else.
function names(svg, dots, area) {
  const lines = shape(svg, "g", {});
  svg.prepend(lines);
  placeNames(dots, area).forEach((box, i) => {
    const d = dots[i];
    if (!box) return;
    if (box.far > 12) {
      const x = Math.max(box.x, Math.min(d.x, box.x + box.w)), y = Math.max(box.y, Math.min(d.y, box.y + box.h));
      shape(lines, "line", { class: "leader", x1: d.x, y1: d.y, x2: x, y2: y });
    }
    shape(d.mark, "text", { class: "name", x: box.x + 1, y: box.y + 11.5 }, d.name);
  });
}
