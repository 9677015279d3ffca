// main.tsx - starts the page.
import { render } from 'preact';
import { App, loadRooms } from './app';
import './hook';
import './style.css';

void loadRooms().then(() => render(<App />, document.getElementById('app')!));
