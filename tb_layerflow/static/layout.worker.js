import{d as o}from"./chunk-QMVMSVZP.js";var s=self;s.onmessage=({data:t})=>{let e=null;try{e=o(t.boxes,t.links,t.options)}catch{}s.postMessage({ticket:t.ticket,positions:e})};
