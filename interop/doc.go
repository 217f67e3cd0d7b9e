// Package interop has no code but tests: they drive the programs Bedrock claims
// to share its locks with, the real ones, beside Bedrock on one server.
package interop
