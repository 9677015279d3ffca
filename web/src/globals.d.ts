// True in the build that is one HTML file.
declare const SINGLE_FILE: boolean;
