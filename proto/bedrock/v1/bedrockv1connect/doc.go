// Package bedrockv1connect holds the services of Bedrock's API, generated from
// the .proto files. Go programs use package client instead.
package bedrockv1connect
