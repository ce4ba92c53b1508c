//! Writes the certificate of a search to a file, while it searches and when it is resumed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use broccoli_certificate::{Certificate, Form, Mark};
use broccoli_core::problem::{Problem, SystemFactory};
use broccoli_core::search::{Outcome, Witness};
use broccoli_export::json::ProblemJson;
use broccoli_problem::Identity;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::complaint::Complaint;

/// The options about the certificate.
#[derive(Debug, Args)]
pub struct CertificateOptions {
    /// Write a certificate, which `broccoli verify` checks (behaviour only)
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,

    /// How much it holds
    #[arg(long, value_name = "FORM", default_value = "light", requires = "certificate")]
    certificate_form: FormName,
}

/// The forms by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormName {
    /// What was decided; to be checked by running the system again
    Light,
    /// Also all that the system answered; can be checked without it
    Full,
}

impl CertificateOptions {
    pub fn is_wanted(&self) -> bool {
        self.certificate.is_some()
    }

    /// Begins the certificate, if one is wanted.
    pub fn begin(
        &self,
        problem: &ProblemJson,
        identity: &Identity,
    ) -> Result<Option<CertificateFile>, Complaint> {
        let form = match self.certificate_form {
            FormName::Light => Form::Light,
            FormName::Full => Form::Full,
        };
        let Some(path) = &self.certificate else { return Ok(None) };
        CertificateFile::create(path, form, problem, identity)
            .map(Some)
            .map_err(|error| Complaint::input(format!("--certificate {path:?} cannot be written: {error}")))
    }
}

/// What a checkpoint says of the certificate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptCertificate {
    path: PathBuf,
    form: Form,
    mark: Mark,
}

impl KeptCertificate {
    /// Where it was written, according to the checkpoint.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A certificate that is being written.
pub struct CertificateFile {
    path: PathBuf,
    form: Form,
    /// A handle of its own, to see to it that all is on the disk.
    file: File,
    certificate: Arc<Certificate>,
}

impl CertificateFile {
    fn create(path: &Path, form: Form, problem: &ProblemJson, identity: &Identity) -> io::Result<Self> {
        // A search that is resumed may be so from another folder.
        let path = std::path::absolute(path)?;
        let file = broccoli_certificate::create(&path)?;
        let certificate = Certificate::begin(Box::new(file.try_clone()?), form, problem, identity)?;
        Ok(CertificateFile { path, form, file, certificate: Arc::new(certificate) })
    }

    /// Goes on with a certificate where a checkpoint was made: the one at `path`, which the user has named. What came
    /// after the checkpoint is cut off.
    pub fn resume(
        path: &Path,
        kept: &KeptCertificate,
        problem: &ProblemJson,
        identity: &Identity,
    ) -> Result<Self, Complaint> {
        let KeptCertificate { form, mark, .. } = *kept;
        let opened = std::path::absolute(path).and_then(|path| {
            let file = broccoli_certificate::resume(&path, form, problem, identity, mark)?;
            Ok((path, file.try_clone()?, file))
        });
        let (path, writer, file) = opened.map_err(|error| {
            Complaint::input(format!("the certificate {path:?} cannot be gone on with: {error}"))
                .help("put it back where it was, or go on without it: broccoli resume FILE --no-certificate")
        })?;
        let certificate = Arc::new(Certificate::go_on(Box::new(writer), form, mark));
        Ok(CertificateFile { path, form, file, certificate })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn witness(&self) -> Arc<dyn Witness> {
        self.certificate.clone()
    }

    /// What a checkpoint has to know. All of it is on the disk before the checkpoint is.
    pub fn kept(&self) -> io::Result<KeptCertificate> {
        let mark = self.certificate.mark()?;
        self.file.sync_all()?;
        Ok(KeptCertificate { path: self.path.clone(), form: self.form, mark })
    }

    /// Ends it with what the search claims.
    pub fn end(
        &self,
        problem: &Problem,
        factory: &dyn SystemFactory,
        outcome: &Outcome,
    ) -> Result<(), Complaint> {
        self.certificate.end(problem, factory, outcome).map_err(|error| {
            Complaint::other(format!("the certificate {:?} is of no use: {error}", self.path))
        })
    }
}
