// A page opened from a folder may not start a worker, and the search is one. Here its script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inner = frame.contentWindow;
      this.loaded = new Promise((loaded, failed) => {
        const load = (source) => new Promise((done, wrong) => {
          const script = inner.document.createElement("script");
          script.src = source;
          script.onload = done;
          script.onerror = wrong;
          inner.document.body.append(script);
        });
        inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inner.importScripts = (...sources) => sources.reduce((before, one) => before.then(() => load(one)), Promise.resolve());
        load(new URL(address, location)).then(loaded, failed);
      });
      this.inner = inner;
    }
    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
    }
    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
