declare module "*?worker&inline" {
  const MadeWorker: new () => Worker;
  export default MadeWorker;
}
