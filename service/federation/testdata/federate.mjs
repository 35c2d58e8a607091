// A federate in JavaScript, for a browser or Node.js 22: node federate.mjs ws://localhost:4600
//
// It watches the trains of the federation "rails", in order of time, until the first is gone.

export function join(url, token, federation, name, model) {
  const ws = new WebSocket(`${url}/federation/v1/ws${token ? `?token=${token}` : ""}`);
  const waits = new Map(), listeners = new Map();
  let calls = 0;
  const call = (what, how = {}) => new Promise((done, fail) => {
    waits.set(++calls, { done, fail });
    ws.send(JSON.stringify({ id: calls, call: what, ...how }));
  });
  ws.onmessage = ({ data }) => {
    for (const line of data.split("\n")) {
      if (!line) continue;
      const said = JSON.parse(line);
      if ("reply" in said) {
        const w = waits.get(said.reply);
        waits.delete(said.reply);
        if (said.error) w?.fail(new Error(said.error));
        else w?.done(said);
      } else listeners.get(said.notice)?.(said);
    }
  };
  return new Promise((done, fail) => {
    ws.onerror = () => fail(new Error(`no federation at ${url}`));
    ws.onopen = () => call("join", { federation, name, model }).then(
      () => done({ call, on: (kind, f) => listeners.set(kind, f), close: () => ws.close() }), fail);
  });
}

const [url, token] = process.argv.slice(2);
const f = await join(url, token, "rails", "watcher", { classes: [
  { name: "train", attributes: [{ name: "metres", order: "time" }] }] });
let now = 0;
f.on("constrained", (n) => { now = n.time ?? 0; });
f.on("discovered", () => f.call("advance", { time: now + 1000 }));
f.on("granted", (n) => { now = n.time; f.call("advance", { time: now + 1000 }); });
f.on("reflected", (n) => console.log(`at ${n.time} ms: ${atob(n.values.metres)} m`));
f.on("removed", () => { console.log("the train is gone"); f.close(); });
await f.call("constrain");
await f.call("subscribe", { class: "train", attributes: ["metres"] });
console.log("watching");
