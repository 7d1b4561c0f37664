/** Like the global `fetch`, but the request goes to one service in this process, whatever origin it names. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>
