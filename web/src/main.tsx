// main.tsx - starts the page.
import { render } from 'preact';
import { App } from './app';
import './hook';
import './style.css';

render(<App />, document.getElementById('app')!);
