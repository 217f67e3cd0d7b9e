// Package bedrockv1 holds the messages of Bedrock's API, generated from the
// .proto files beside it. Go programs use package client instead.
package bedrockv1
