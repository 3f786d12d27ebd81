/** Nonce with which the policy of the page permits the styles that scripts add; undefined where there is no policy. */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce || undefined;

// the components that keep a page from scrolling behind a dialog read it here
(globalThis as { __webpack_nonce__?: string | undefined }).__webpack_nonce__ = styleNonce;
