// Where links and what sits on them are at any time: between two saved moments by interpolation.
import { Matrix4, Quaternion, Vector3 } from "three";

const ONE = new Vector3(1, 1, 1);

// A place is [x, y, z, qx, qy, qz, qw].
export function matrixOf(place) {
  return new Matrix4().compose(new Vector3(...place.slice(0, 3)), new Quaternion(...place.slice(3)), ONE);
}

export class Motion {
  constructor(data) {
    this.times = data.times;
    this.links = data.links;
    this.numbers = data.motion;
  }

  // The last saved moment not after a time, and how far the time is toward the next.
  locate(time) {
    const times = this.times;
    let low = 0;
    let high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    if (time >= times[high]) return { frame: high, share: 0 };
    const step = times[high] - times[low];
    return { frame: low, share: step > 0 ? (time - times[low]) / step : 0 };
  }

  // The place of a link; link 0 is the fixed frame.
  link(link, time, position = new Vector3(), quaternion = new Quaternion()) {
    if (link === 0) return { position: position.set(0, 0, 0), quaternion: quaternion.identity() };
    const { frame, share } = this.locate(time);
    this.#read(frame, link, position, quaternion);
    if (share > 0) {
      const further = this.#read(frame + 1, link, new Vector3(), new Quaternion());
      position.lerp(further.position, share);
      quaternion.slerp(further.quaternion, share);
    }
    return { position, quaternion };
  }

  matrix(link, time) {
    const { position, quaternion } = this.link(link, time);
    return new Matrix4().compose(position, quaternion, ONE);
  }

  // A point that sits on a link.
  point(link, local, time) {
    return new Vector3(...local).applyMatrix4(this.matrix(link, time));
  }

  #read(frame, link, position, quaternion) {
    const at = (frame * this.links + link - 1) * 7;
    position.fromArray(this.numbers, at);
    quaternion.fromArray(this.numbers, at + 3).normalize();
    return { position, quaternion };
  }
}
