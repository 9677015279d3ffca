// True in the build that is one HTML file.
declare const SINGLE_FILE: boolean;
// engine/worker.ts, as vite.config.ts has it: a file, or inside the script.
declare module '#worker' {
    const EngineWorker: new () => Worker;
    export default EngineWorker;
}
