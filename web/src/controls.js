// Buttons, slider, keys and menus.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];
const LAYERS = {
  ellipsoids: "Ellipsoids", centers: "Centers of mass", joints: "Joints", supports: "Supports", elements: "Springs, dampers",
  forces: "Forces", axes: "Axes",
};

const byId = (id) => document.getElementById(id);

export function bindTransport(clock, motion) {
  const { play, scrub, speed } = { play: byId("play"), scrub: byId("scrub"), speed: byId("speed") };
  const digits = clock.end - clock.start < 20 ? 2 : 1;
  scrub.hidden = !Number.isFinite(clock.end);
  for (const value of SPEEDS) speed.add(new Option(`${value}×`, value, value === 1, value === 1));
  play.addEventListener("click", () => clock.toggle());
  scrub.addEventListener("input", () => clock.set(Number(scrub.value)));
  speed.addEventListener("change", () => (clock.speed = Number(speed.value)));
  clock.onChange(() => {
    Object.assign(scrub, { min: clock.start, max: clock.end });
    scrub.value = clock.time;
    speed.value = clock.speed;
    play.textContent = clock.playing ? "❚❚" : "▶";
    const origin = clock.origin ?? 0;
    const whole = Number.isFinite(clock.end) ? ` / ${(clock.end - origin).toFixed(digits)}` : "";
    byId("clock").textContent = `${(clock.time - origin).toFixed(digits)}${whole} s`;
  });
  document.addEventListener("keydown", (event) => onKey(event, clock, motion));
}

// The stage has the focus: arrows turn the view, plus and minus zoom, and the time stands still.
const TURNS = {
  ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1], "+": [0, 0, 1 / 1.1], "=": [0, 0, 1 / 1.1], "-": [0, 0, 1.1],
};

export function bindStageKeys(stage) {
  stage.element.addEventListener("keydown", (event) => {
    const turn = TURNS[event.key];
    if (!turn || event.target !== stage.element || event.ctrlKey || event.metaKey || event.altKey) return;
    stage.turn(...turn);
    event.preventDefault();
    event.stopPropagation();
  });
}

function onKey(event, clock, motion) {
  if (event.key !== " " && !Number.isFinite(clock.end)) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { tagName, type } = event.target;
  if (tagName === "SELECT" || (tagName === "INPUT" && type !== "range" && type !== "checkbox")) return;
  const step = (frames) => {
    clock.play(false);
    const { frame } = motion.locate(clock.time);
    clock.set(motion.times[Math.min(motion.times.length - 1, Math.max(0, frame + frames))]);
  };
  const keys = {
    " ": () => clock.toggle(),
    ArrowLeft: () => step(event.shiftKey ? -10 : -1),
    ArrowRight: () => step(event.shiftKey ? 10 : 1),
    Home: () => clock.set(clock.start),
    End: () => clock.set(clock.end),
  };
  const action = keys[event.key];
  if (!action || (event.key === " " && (tagName === "BUTTON" || tagName === "SUMMARY" || type === "checkbox"))) return;
  event.preventDefault();
  action();
}

// What is drawn on the stage, and the body the trail and the camera go with.
export function bindOptions(stage, data, chosen) {
  const toggles = byId("toggles");
  for (const [name, words] of Object.entries(LAYERS)) {
    if (!stage.assembly.layers[name].length) continue;
    toggles.append(checkbox(words, stage.assembly.visible[name], (checked) => stage.setLayer(name, checked)));
  }
  if (stage.ground) toggles.append(checkbox("Ground", true, (checked) => stage.setLayer("ground", checked)));
  toggles.append(checkbox("Names", false, (checked) => stage.setLayer("labels", checked)));
  const menu = byId("chosen");
  data.bodies.forEach((body, index) => menu.add(new Option(body.name, index, index === chosen, index === chosen)));
  const body = () => data.bodies[Number(menu.value)];
  let trail = chosen >= 0;
  let follow = chosen >= 0 && stage.goesFar;
  const apply = () => {
    stage.setTrail(trail ? body() : null);
    stage.follow(follow ? body() : null);
  };
  if (stage.motion.times.length > 1) {
    toggles.append(checkbox("Trail", trail, (checked) => ((trail = checked), apply())));
  }
  toggles.append(checkbox("Follow", follow, (checked) => ((follow = checked), apply())));
  menu.addEventListener("change", apply);
  byId("home").addEventListener("click", () => stage.home());
  apply();
  stage.home();
}

function checkbox(words, on, changed) {
  const label = document.createElement("label");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = on;
  box.addEventListener("change", () => changed(box.checked));
  label.append(box, words);
  return label;
}

// Numbers of equations are rounded; all their digits on demand.
export function bindDigits() {
  byId("exact")?.addEventListener("change", (event) => {
    for (const number of document.querySelectorAll("mn[data-exact]")) {
      number.dataset.rounded ??= number.textContent;
      number.textContent = event.target.checked ? number.dataset.exact : number.dataset.rounded;
    }
  });
}

// A time in the list of events is a button that goes there.
export function bindEvents(clock) {
  for (const button of document.querySelectorAll("button[data-time]")) {
    button.addEventListener("click", () => clock.set(Number(button.dataset.time)));
  }
}

// Light or dark: as the system says, until the button is pressed.
export function bindTheme(changed) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = (name) => {
    document.documentElement.dataset.theme = name;
    changed(name);
  };
  dark.addEventListener("change", () => apply(dark.matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () => {
    apply(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  });
  apply(dark.matches ? "dark" : "light");
}
