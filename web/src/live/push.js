// Pull a body with the mouse or a finger: a spring and damper between the body's point and the pointer.
import { ArrowHelper, Vector3 } from "three";
import { Pointer } from "../scene/pointer.js";

const FREQUENCY = 2 * Math.PI * 0.8; // of the pulled body alone on the spring
const DAMPING = 0.7;

export function bindPush(stage, model, clock, moved) {
  const canvas = stage.renderer.domElement;
  const pointer = new Pointer(stage);
  const arrow = new ArrowHelper(new Vector3(1, 0, 0), new Vector3(), 1, "#e8590c");
  arrow.visible = false;
  stage.scene.add(arrow);
  let held = null;

  const pick = (event) => {
    const hit = pointer.pick(event);
    const body = hit ? stage.data.bodies.findIndex((one) => one.link === hit.link) : -1;
    return body < 0 ? null : { ...hit, body };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    held = pick(event);
    if (!held) return;
    pointer.hold(held.at);
    held.target = held.at.clone();
    held.before = held.at.clone();
    stage.controls.enabled = false;
    canvas.setPointerCapture(event.pointerId);
    clock.play();
  }, { capture: true });
  canvas.addEventListener("pointermove", (event) => {
    if (held) held.target = pointer.target(event) ?? held.target;
  });
  const release = () => {
    if (!held) return;
    held = null;
    model.push(0, null, null);
    arrow.visible = false;
    stage.controls.enabled = true;
    moved();
  };
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) canvas.addEventListener(kind, release);

  const mass = model.data.bodies.reduce((sum, body) => sum + body.mass, 0) || 1;
  // Before each frame: the force of the spring, held during the frame.
  return (seconds) => {
    if (!held || seconds <= 0) return;
    const point = held.local.clone().applyMatrix4(model.matrix(held.link));
    const rate = point.clone().sub(held.before).divideScalar(seconds);
    held.before = point;
    const own = model.data.bodies[held.body].mass || mass;
    const force = held.target.clone().sub(point).multiplyScalar(own * FREQUENCY ** 2);
    force.addScaledVector(rate, -2 * DAMPING * own * FREQUENCY);
    model.push(held.body, point, force);
    const length = held.target.distanceTo(point);
    arrow.visible = length > 1e-6;
    if (arrow.visible) {
      arrow.position.copy(point);
      arrow.setDirection(held.target.clone().sub(point).normalize());
      arrow.setLength(length, 0.08 * stage.assembly.size, 0.04 * stage.assembly.size);
    }
  };
}
