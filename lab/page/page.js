"use strict";
// What the scripts of pages share.
const byId = (id) => document.getElementById(id);

function element(tag, attributes, ...content) {
  const e = document.createElement(tag);
  Object.assign(e, attributes);
  e.append(...content);
  return e;
}

function shape(parent, tag, attributes, content) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (content !== undefined) e.textContent = content;
  parent.append(e);
  return e;
}

function choices(select, list, chosen) {
  for (const [value, name] of list) select.append(element("option", { value }, name));
  select.value = chosen;
}

function round(v) {
  const a = Math.abs(v);
  if (a === 0) return "0";
  if (a >= 100) return v.toFixed(0);
  if (a >= 10) return v.toFixed(1);
  if (a >= 1) return v.toFixed(2);
  return v.toFixed(3);
}

// A tip says what a mark stands for, to those who point at it.
function tip(e, words) {
  const show = (at) => {
    const box = byId("tip");
    box.textContent = words;
    box.hidden = false;
    const w = box.offsetWidth, h = box.offsetHeight;
    box.style.left = Math.max(4, Math.min(at.clientX + 12, innerWidth - w - 4)) + "px";
    box.style.top = Math.max(4, at.clientY > h + 20 ? at.clientY - h - 10 : at.clientY + 14) + "px";
  };
  e.addEventListener("pointermove", show);
  e.addEventListener("pointerleave", () => (byId("tip").hidden = true));
}

// The button chooses between light and dark; at first it is what the system has.
{
  const dark = () => (document.documentElement.dataset.theme ||
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = element("button", { id: "theme", type: "button" });
  const name = () => (button.textContent = dark() ? "light" : "dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  name();
  document.body.prepend(button);
}
