// core.ts - every method of Engine (types.ts), synchronously: passes numbers to the module and results
// back. The Worker calls it for the page; tests call it directly.
import { Cost } from './core-cost';
import { Look } from './core-look';
import { Steps } from './core-steps';
import { Train } from './core-train';
import { Module } from './module';
import type { Engine } from './types';

/** Engine without the promises. */
export type Direct = {
    [K in keyof Engine]: (...args: Parameters<Engine[K]>) => Awaited<ReturnType<Engine[K]>>;
};

export class Core implements Direct {
    readonly module: Module;
    private readonly stepping: Steps;
    private readonly looking: Look;
    private readonly training: Train;
    private readonly counting: Cost;

    constructor(instance: WebAssembly.Instance) {
        this.module = new Module(instance);
        this.stepping = new Steps(this.module);
        this.looking = new Look(this.module);
        this.training = new Train(this.module);
        this.counting = new Cost(this.module);
    }

    /** Lets the browser see the kernels at work before the first question. */
    warmUp(): void {
        this.counting.scalingMaps(32, 16, 1);
        this.stepping.examples();
    }

    version: Direct['version'] = () => {
        const r = this.module.call('version');
        return { version: r.text('version'), isa: r.text('isa') };
    };

    examples: Direct['examples'] = () => this.stepping.examples();
    sentence: Direct['sentence'] = (text, how) => this.stepping.sentence(text, how);
    steps: Direct['steps'] = (problem) => this.stepping.steps(problem);

    openModel: Direct['openModel'] = (bytes) => this.looking.openModel(bytes);
    readHeader: Direct['readHeader'] = (bytes, fileSize) => this.looking.readHeader(bytes, fileSize);
    closeModel: Direct['closeModel'] = (handle) => this.looking.closeModel(handle);
    tokenize: Direct['tokenize'] = (handle, text) => this.looking.tokenize(handle, text);
    look: Direct['look'] = (handle, input) => this.looking.look(handle, input);
    lookRandom: Direct['lookRandom'] = (words, how, input) => this.looking.lookRandom(words, how, input);
    principal: Direct['principal'] = (rows) => this.looking.principal(rows);

    tasks: Direct['tasks'] = () => this.training.tasks();
    taskExample: Direct['taskExample'] = (task, seed, number) => this.training.taskExample(task, seed, number);
    trainStart: Direct['trainStart'] = (input) => this.looking.remember(this.training.start(input));
    trainSlice: Direct['trainSlice'] = (milliseconds, most) => this.training.slice(milliseconds, most);
    evaluate: Direct['evaluate'] = (examples, knockOut, handle) => this.training.evaluate(examples, knockOut, handle);
    trainPack: Direct['trainPack'] = () => this.training.pack();

    cost: Direct['cost'] = (n, d, heads, causal) => this.counting.cost(n, d, heads, causal);
    sharpness: Direct['sharpness'] = (d_k, n, trials, seed) => this.counting.sharpness(d_k, n, trials, seed);
    scalingMaps: Direct['scalingMaps'] = (d_k, n, seed) => this.counting.scalingMaps(d_k, n, seed);
}
