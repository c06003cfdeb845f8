//! Everything that is derived from the secret.
//!
//! One HKDF-SHA-256 (RFC 5869) with a label for each purpose and direction
//! (docs/threat-model.md §5.5). Both ends derive both identities: each proves its own with an
//! Ed25519 signature over the handshake and accepts exactly the other's raw public key (RFC 7250).

use std::sync::Arc;

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use ring::{hkdf, hmac};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::pki_types::{
    CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible,
    SignatureScheme,
};
use zeroize::Zeroizing;

use crate::Secret;
use crate::connection_id::ConnectionIdKey;

/// The protocol that the streams speak, as the handshake names it.
const PROTOCOL: &[u8] = b"fulmar/1";

/// The bytes before the 32 of an Ed25519 seed in a PKCS#8 document.
///
/// Source: RFC 8410 §7 (version 0, algorithm 1.3.101.112, an octet string within an octet string).
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// The keys of one connection.
pub(crate) struct Keys {
    /// Ids of a client's first datagrams.
    pub(crate) first: ConnectionIdKey,
    /// Ids that the client gives out.
    pub(crate) client: ConnectionIdKey,
    /// Ids that the server gives out.
    pub(crate) server: ConnectionIdKey,
    /// For resets, which are never sent.
    pub(crate) reset: hmac::Key,
    /// For address tokens, which are never sent either.
    pub(crate) token: hkdf::Prk,
    client_identity: Identity,
    server_identity: Identity,
    provider: Arc<CryptoProvider>,
}

/// A pair of keys that proves who one end is.
struct Identity {
    certified: Arc<CertifiedKey>,
    public: SubjectPublicKeyInfoDer<'static>,
}

/// A secret from which no keys can be made; no value of 32 bytes is known to be one.
#[derive(Debug)]
pub(crate) struct NoKeys;

impl Keys {
    /// Derives all keys.
    pub(crate) fn derive(secret: &Secret) -> Result<Keys, NoKeys> {
        let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"fulmar quic 1");
        let root = salt.extract(secret.as_bytes());
        let expand = |label: &str| expand(&root, label);
        let token = hkdf::Salt::new(hkdf::HKDF_SHA256, b"").extract(&*expand("token")?);
        Ok(Keys {
            first: ConnectionIdKey::first(&*expand("first id")?),
            client: ConnectionIdKey::own(&*expand("client id")?),
            server: ConnectionIdKey::own(&*expand("server id")?),
            reset: hmac::Key::new(hmac::HMAC_SHA256, &*expand("reset")?),
            token,
            client_identity: Identity::of_seed(&*expand("client identity")?)?,
            server_identity: Identity::of_seed(&*expand("server identity")?)?,
            provider: Arc::new(provider()),
        })
    }

    /// Returns what a client needs for the handshake.
    pub(crate) fn client_config(&self) -> Result<QuicClientConfig, NoKeys> {
        let builder = rustls::ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|_| NoKeys)?;
        let own = self.client_identity.certified.clone();
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(self.pin(&self.server_identity)))
            .with_client_cert_resolver(Arc::new(
                rustls::client::AlwaysResolvesClientRawPublicKeys::new(own),
            ));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        // A secret serves one connection, so there is nothing to resume.
        config.resumption = rustls::client::Resumption::disabled();
        // A name would be readable on the path, and the server is known by its key.
        config.enable_sni = false;
        QuicClientConfig::try_from(config).map_err(|_| NoKeys)
    }

    /// Returns what a server needs for the handshake.
    pub(crate) fn server_config(&self) -> Result<QuicServerConfig, NoKeys> {
        let builder = rustls::ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|_| NoKeys)?;
        let own = self.server_identity.certified.clone();
        let mut config = builder
            .with_client_cert_verifier(Arc::new(self.pin(&self.client_identity)))
            .with_cert_resolver(Arc::new(
                rustls::server::AlwaysResolvesServerRawPublicKeys::new(own),
            ));
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        config.send_tls13_tickets = 0;
        QuicServerConfig::try_from(config).map_err(|_| NoKeys)
    }

    fn pin(&self, identity: &Identity) -> Pinned {
        Pinned {
            key: identity.public.clone(),
            provider: self.provider.clone(),
        }
    }
}

impl Identity {
    fn of_seed(seed: &[u8; 32]) -> Result<Identity, NoKeys> {
        let mut document = Zeroizing::new([0; PKCS8_PREFIX.len() + 32]);
        let bytes = PKCS8_PREFIX.iter().chain(seed);
        document
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        let document = PrivatePkcs8KeyDer::from(document.as_slice());
        let signer = provider::sign::any_eddsa_type(&document).map_err(|_| NoKeys)?;
        let public = signer.public_key().ok_or(NoKeys)?.into_owned();
        let shown = CertificateDer::from(public.to_vec());
        let certified = Arc::new(CertifiedKey::new(vec![shown], signer));
        Ok(Identity { certified, public })
    }
}

/// One cipher suite and one key exchange: nothing to negotiate, nothing to weaken.
fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![provider::cipher_suite::TLS13_AES_128_GCM_SHA256],
        kx_groups: vec![provider::kx_group::X25519],
        ..provider::default_provider()
    }
}

fn expand(root: &hkdf::Prk, label: &str) -> Result<Zeroizing<[u8; 32]>, NoKeys> {
    let mut key = Zeroizing::new([0; 32]);
    let label = [label.as_bytes()];
    let expanded = root.expand(&label, hkdf::HKDF_SHA256);
    let filled = expanded.and_then(|output| output.fill(key.as_mut_slice()));
    filled.map_err(|_| NoKeys)?;
    Ok(key)
}

/// Accepts one raw public key and no other.
#[derive(Debug)]
struct Pinned {
    key: SubjectPublicKeyInfoDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn check(&self, shown: &CertificateDer<'_>) -> Result<(), Error> {
        // Not in constant time: public keys are no secret (docs/threat-model.md §5).
        if shown.as_ref() == self.key.as_ref() {
            return Ok(());
        }
        Err(CertificateError::ApplicationVerificationFailure.into())
    }
}

const OLD_TLS: Error = Error::PeerIncompatible(PeerIncompatible::Tls13RequiredForQuic);

/// The methods that both traits ask for in the same words: they verify a signature over the handshake.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _shown: &CertificateDer<'_>,
            _signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(OLD_TLS)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            shown: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            rustls::crypto::verify_tls13_signature_with_raw_key(
                message,
                &SubjectPublicKeyInfoDer::from(shown.as_ref()),
                signed,
                &self.provider.signature_verification_algorithms,
            )
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity)?;
        Ok(ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity)?;
        Ok(ClientCertVerified::assertion())
    }

    signatures!();
}
