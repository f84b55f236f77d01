/** nginx's code for "client closed request": nothing was answered, so there is no status of ours. */
export const CLIENT_CLOSED_REQUEST = 499;
