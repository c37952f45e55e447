// Every kind of object: without prototype, with keys, tags, other prototypes,
// hidden, coloured, nested, circular, in subclasses.
const u=require('util');const i=u.inspect;
const p=(f)=>{try{console.log(f())}catch(e){console.log('threw', e.name)}};
const n=(v)=>Object.assign(Object.setPrototypeOf(v,null),{a:1});
p(()=>i(new WeakMap,{depth:-1})+i(Promise.resolve(1),{depth:-1})+i(new Error('x'),{depth:-1}).split('\n')[0]+i(Object.assign(new Error('x'),{a:1}),{depth:-1}));
for(const f of [()=>/x/,()=>new Date(0),()=>new Map,()=>new Set([1]),()=>[1],()=>new Uint8Array(1),()=>Promise.resolve(1),()=>new DataView(new ArrayBuffer(1)),()=>Object(1),()=>Object('s'),()=>Object(Symbol('q')),()=>Object(1n),()=>Object(true)]){
 p(()=>i(n(f()),{depth:-1}));
 p(()=>i(n(f())).replace(/\n +at.*/g,''));
 p(()=>i(Object.assign(f(),{b:1,[Symbol('q')]:2,[Symbol.toStringTag]:'TAG'})).replace(/\n +at.*/g,''));
 p(()=>i(Object.defineProperty(f(),Symbol.toStringTag,{value:'TAG'})).replace(/\n +at.*/g,''));
 p(()=>i(Object.defineProperty(n(f()),Symbol.toStringTag,{value:'TAG'})).replace(/\n +at.*/g,''));
 p(()=>i(Object.defineProperty(n(f()),Symbol.toStringTag,{value:'TAG'}),{depth:-1}).replace(/\n +at.*/g,''));
 p(()=>i({q:Object.defineProperty(f(),Symbol.toStringTag,{value:'TAG'})},{depth:0}).replace(/\n +at.*/g,''));
 p(()=>i(Object.defineProperty(f(),'hid',{value:'TAG'}),{showHidden:true,compact:false}).replace(/\n +at.*/g,'').replace(/ *\[stack\](.|\n)*?,\n(?= *\[mess)/,'').replace(/ *\[(arguments|caller)\].*\n/g,''));
 p(()=>i(Object.setPrototypeOf(f(),{x:1})).replace(/\n +at.*/g,''));
 p(()=>i(f(),{compact:true,showHidden:false,breakLength:3}).replace(/\n +at.*/g,''));
 p(()=>i(f(),{colors:true}).replace(/\n.*at.*/g,''));
 p(()=>i(Object.assign(f(),{x:{y:{}}}),{colors:true,depth:0}).replace(/\n.*at.*/g,''));
 p(()=>i([[[f()]]]).replace(/\n +at.*/g,''));
 p(()=>u.format('%s|%o|%O|%d',f(),f(),f(),1).replace(/\n +at.*/g,'').replace(/ *\[stack\](.|\n)*?,\n(?= *\[mess)/,'').replace(/ *\[(arguments|caller)\].*\n/g,''));
 const s=f();s.self=s;p(()=>i(s).replace(/\n +at.*/g,''));
 p(()=>i(Object.create(f())).replace(/\n +at.*/g,''));
 class Sub extends f().constructor{}; p(()=>{const v=Object.setPrototypeOf(f(),Sub.prototype);return i(v).replace(/\n +at.*/g,'')+i(v,{depth:-1}).replace(/\n +at.*/g,'')+i(Object.assign(v,{q:1}),{depth:-1}).replace(/\n +at.*/g,'')});
}
