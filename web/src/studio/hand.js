// The mouse on the mechanism: a click picks a body; a drag moves it, or pushes it while a simulation runs.
import { ArrowHelper, Vector3 } from "three";
import { Pointer } from "../scene/pointer.js";
import { dragged } from "./drag.js";

const NEAR = 4; // pixels: less is a click

// picked: called with the name of a body. pushed: called with a push or null while a simulation runs. grabbed: called
// when a drag begins.
export function bindHand(viewer, { running, picked, pushed, grabbed }) {
  const { stage } = viewer;
  const canvas = stage.renderer.domElement;
  const pointer = new Pointer(stage);
  const arrow = new ArrowHelper(new Vector3(1, 0, 0), new Vector3(), 1, "#e8590c");
  arrow.visible = false;
  stage.scene.add(arrow);
  let held = null;
  let due = null;

  const draw = () => {
    const from = held.local.clone().applyMatrix4(viewer.chain.matrices[held.link]);
    const length = from.distanceTo(held.target);
    arrow.visible = held.moved && length > 1e-4 * stage.assembly.size;
    if (!arrow.visible) return;
    arrow.position.copy(from);
    arrow.setDirection(held.target.clone().sub(from).normalize());
    arrow.setLength(length, Math.min(0.08 * stage.assembly.size, length), 0.04 * stage.assembly.size);
    stage.changed = true;
  };
  const follow = () => {
    if (!held || !due) return;
    const target = pointer.target(due);
    due = null;
    if (!target) return;
    held.target = target;
    if (running()) {
      pushed({ body: held.body.name, local: inBody(held), target: target.toArray() });
      return;
    }
    const limits = viewer.data.names.map((name) => {
      const one = viewer.data.coordinates.find((coordinate) => coordinate.name === name);
      return one?.limited ? [one.lower, one.upper] : null;
    });
    viewer.put(dragged(viewer.chain, held.link, held.local, target, limits), viewer.chain.time, true);
  };
  // The point in the frame of the body, which may be fixed to its link anywhere.
  const inBody = ({ body, local }) => {
    const place = viewer.frameOf(body).invert();
    return local.clone().applyMatrix4(place).toArray();
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    held = pointer.pick(event);
    if (!held) return;
    Object.assign(held, { x: event.clientX, y: event.clientY, target: held.at.clone(), moved: false });
    pointer.hold(held.at);
    stage.controls.enabled = false;
    canvas.setPointerCapture(event.pointerId);
    event.stopImmediatePropagation();
  }, { capture: true });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return void (canvas.style.cursor = event.buttons ? "" : pointer.pick(event) ? "grab" : "");
    if (!held.moved && Math.hypot(event.clientX - held.x, event.clientY - held.y) > NEAR) {
      held.moved = true;
      grabbed();
    }
    if (held.moved) due = event;
  });
  const release = () => {
    if (!held) return;
    const { body, moved } = held;
    held = due = null;
    arrow.visible = false;
    stage.controls.enabled = true;
    stage.changed = true;
    if (running()) pushed(null);
    if (!moved) picked(body.name);
  };
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(kind, release);
  // Before each frame: at most one step of the mouse.
  return () => {
    follow();
    if (held) draw();
  };
}
