/* The search runs in a worker, which browsers refuse for files. There, a hidden frame takes its place. */
window.IFrameWorker = class extends EventTarget {
  constructor(url) {
    super();
    this.waiting = [];
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.appendChild(frame);
    this.inside = frame.contentWindow;
    this.inside.postMessage = (data) => this.tell(this, data);
    const script = this.inside.document.createElement("script");
    script.src = url;
    script.onload = () => {
      for (const data of this.waiting) this.tell(this.inside, data);
      this.waiting = null;
    };
    this.inside.document.body.appendChild(script);
  }

  tell(target, data) {
    setTimeout(() => target.dispatchEvent(new MessageEvent("message", { data })), 0);
  }

  postMessage(data) {
    if (this.waiting) this.waiting.push(data);
    else this.tell(this.inside, data);
  }

  terminate() {}
};
if (location.protocol === "file:") window.Worker = window.IFrameWorker;
