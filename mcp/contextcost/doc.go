// Package contextcost measures how much of a language model's context the definitions of tools take: their exact size
// in bytes, and an estimate of their tokens.
//
// The package counts the members that a host gives to the model for each tool, as compact JSON: name, description and
// inputSchema. Title, annotations, icons, outputSchema, execution and _meta are for the host and do not count. The text
// that hosts and models put around a definition differs and does not count either.
//
// The estimate is for o200k_base, the vocabulary of several OpenAI models. The estimate does not use that vocabulary:
// it splits the text as the tokenizer does, and weighs each piece by its kind and length. For the tool lists of
// twenty-seven servers, none of which was used to fit the weights, the estimate is within 5 % of the tokenizer's count;
// a test allows at most 10 %. The estimate is less accurate for text in languages other than English, and for other
// tokenizers.
//
// All functions are safe for concurrent use and keep no state.
package contextcost
