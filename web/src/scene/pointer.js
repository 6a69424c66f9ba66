// What the mouse points at: the body under it, the point of the body, and where the mouse moves that point to.
import { Plane, Raycaster, Vector2, Vector3 } from "three";

export class Pointer {
  constructor(stage) {
    this.stage = stage;
    this.ray = new Raycaster();
  }

  aim(event) {
    const { stage } = this;
    const box = stage.renderer.domElement.getBoundingClientRect();
    const at = new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    this.ray.setFromCamera(at, stage.camera);
  }

  // The body under the mouse as { body, link, local, at }, null if there is none. What is see-through comes last.
  pick(event) {
    this.aim(event);
    const { stage } = this;
    stage.scene.updateMatrixWorld();
    const hits = this.ray.intersectObjects(stage.assembly.links.slice(1), true).filter(({ object }) => visible(object));
    hits.sort((a, b) => Boolean(a.object.material.transparent) - Boolean(b.object.material.transparent));
    for (const hit of hits) {
      let object = hit.object;
      while (object && !stage.assembly.links.includes(object)) object = object.parent;
      const link = stage.assembly.links.indexOf(object);
      const body = stage.data.bodies.findLast((one) => one.link === link) ?? stage.data.bodies.find((one) => one.base >= 0 && stage.data.bodies[one.base].link === link);
      if (body) return { body, link, at: hit.point, local: object.worldToLocal(hit.point.clone()) };
    }
    return null;
  }

  // The plane through a point across the line of sight, in which the mouse moves it.
  hold(point) {
    this.plane = new Plane().setFromNormalAndCoplanarPoint(this.stage.camera.getWorldDirection(new Vector3()), point);
  }

  target(event) {
    this.aim(event);
    return this.ray.ray.intersectPlane(this.plane, new Vector3());
  }
}

function visible(object) {
  for (let one = object; one; one = one.parent) if (!one.visible) return false;
  return true;
}
