/** Whether this build is for Node. The other one must not import `node:` modules, which bundlers for browsers refuse. */
declare const NODE: boolean;
