//! The content security policy of a page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The policy for a page whose one script is `script` (in pieces, as they stand in the file).
///
/// Nothing may be fetched from anywhere; the one script runs because of its hash, so whatever else
/// got into the page does not. Styles are inline because charts and tables set sizes; images are
/// made by the page itself; the worker that reads dropped files starts from a blob.
pub(super) fn policy(script: &[&str]) -> String {
    let mut sha = Sha256::new();
    for piece in script {
        sha.update(piece);
    }
    let hash = STANDARD.encode(sha.finalize());
    format!(
        "default-src 'none'; script-src 'sha256-{hash}' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; \
         img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'"
    )
}
