import { type JudgeEntry, yesNo } from "./library-entry.ts";

/** Judges of answers. */
export const ANSWER_JUDGES: JudgeEntry[] = [
  {
    id: "correctness",
    name: "Correctness",
    description: "Whether the answer says the same as the reference answer.",
    type: "llm",
    subject: "run",
    system: `You compare an assistant's answer with the right answer of an expert.
The answer is correct when it states everything that the right answer requires and contradicts none of it. Other words, another order, other units of the same amount and additional true details are fine. It is not correct when a required fact is missing, wrong or left open, or when it gives several answers of which only some are right.
Compare only with the right answer. Do not use your own knowledge to overrule it.`,
    variables: { question: "question", answer: "answer", reference: "reference" },
    score: yesNo("correctness", "Whether the answer agrees with the right answer in all that matters."),
    labels: [
      [
        {
          question: "When does the shop open on Sundays?",
          answer: "We open at ten in the morning on Sundays.",
          reference: "10:00",
        },
        true,
      ],
      [
        { question: "When does the shop open on Sundays?", answer: "On Sundays we open at 11.", reference: "10:00" },
        false,
      ],
      [
        {
          question: "What is the boiling point of water at sea level?",
          answer: "212 °F, which is 100 °C.",
          reference: "100 degrees Celsius",
        },
        true,
      ],
      [
        {
          question: "Who may cancel an order?",
          answer: "The customer may cancel it.",
          reference: "The customer within 14 days, and the seller when the goods are sold out.",
        },
        false,
      ],
      [
        {
          question: "Which plan includes exports?",
          answer: "Either Team or Enterprise, I am not sure which.",
          reference: "Enterprise",
        },
        false,
      ],
      [
        {
          question: "How many seats does the van have?",
          answer: "It seats nine people including the driver.",
          reference: "9",
        },
        true,
      ],
      [
        {
          question: "Is the museum open on public holidays?",
          answer: "It closes on public holidays.",
          reference: "No",
        },
        true,
      ],
      [
        {
          question: "List the primary colors of light.",
          answer: "Green, blue and red.",
          reference: "red, green, blue",
        },
        true,
      ],
      [
        { question: "List the primary colors of light.", answer: "Red and blue.", reference: "red, green, blue" },
        false,
      ],
      [
        {
          question: "What is the return period?",
          answer: "You can send it back within two weeks of delivery.",
          reference: "14 days from delivery",
        },
        true,
      ],
      [
        {
          question: "What is the return period?",
          answer: "30 days; some shops give only 14 days.",
          reference: "14 days from delivery",
        },
        false,
      ],
      [
        {
          question: "Which port does the service use?",
          answer: "I could not find that in the documentation.",
          reference: "8443",
        },
        false,
      ],
    ],
  },
  {
    id: "groundedness",
    name: "Groundedness",
    description: "Whether the retrieved documents support every claim of the answer.",
    type: "llm",
    subject: "run",
    system: `You check whether an answer is supported by the documents that were retrieved for it.
Go through the claims of the answer one by one. The answer is grounded when the documents state or directly imply each of them. A claim that is true in the world but not in the documents is not grounded. Saying that the documents do not contain the information is grounded when that is so. Greetings and offers of help are no claims.`,
    variables: { question: "question", answer: "answer", context: "context" },
    score: yesNo("groundedness", "Whether the documents support all claims of the answer."),
    labels: [
      [
        {
          question: "How long is the warranty?",
          answer: "The warranty is two years.",
          context: "[1] All devices have a warranty of 24 months.",
        },
        true,
      ],
      [
        {
          question: "How long is the warranty?",
          answer: "The warranty is two years and covers water damage.",
          context: "[1] All devices have a warranty of 24 months.",
        },
        false,
      ],
      [
        {
          question: "Who founded the company?",
          answer: "The documents do not say who founded it.",
          context: "[1] The company was founded in 1987 in Graz.",
        },
        true,
      ],
      [
        {
          question: "Who founded the company?",
          answer: "It was founded by Maria Huber in 1987.",
          context: "[1] The company was founded in 1987 in Graz.",
        },
        false,
      ],
      [
        {
          question: "What is the capital of France?",
          answer: "Paris.",
          context: "[1] France has 67 million inhabitants.",
        },
        false,
      ],
      [
        {
          question: "Can I bring a dog?",
          answer: "Yes, small dogs are allowed in the cabin for 50 euros.",
          context: "[1] Dogs up to 8 kg travel in the cabin.\n[2] The fee for a dog in the cabin is EUR 50.",
        },
        true,
      ],
      [
        {
          question: "Can I bring a dog?",
          answer: "Yes, dogs travel free of charge.",
          context: "[1] Dogs up to 8 kg travel in the cabin.\n[2] The fee for a dog in the cabin is EUR 50.",
        },
        false,
      ],
      [
        {
          question: "Is the pool heated?",
          answer: "I found nothing about heating. It is open from May to September.",
          context: "[1] The outdoor pool opens from May to September.",
        },
        true,
      ],
      [
        {
          question: "Is the pool heated?",
          answer: "Yes, it is heated from May to September.",
          context: "[1] The outdoor pool opens from May to September.",
        },
        false,
      ],
      [
        {
          question: "How much does Basic cost?",
          answer: "Basic costs 9 a month, so 108 a year.",
          context: "[1] Basic: 9 per month, billed monthly.",
        },
        true,
      ],
      [
        {
          question: "Which cities are served?",
          answer: "Bern, Basel and Zürich.",
          context: "[1] Daily departures to Basel and Bern.",
        },
        false,
      ],
    ],
  },
  {
    id: "answer-relevance",
    name: "Answer relevance",
    description: "Whether the answer addresses what was asked, right or wrong.",
    type: "llm",
    subject: "run",
    system: `You decide whether an answer addresses the user's request.
An answer is relevant when it responds to what was asked, in all its parts, whether or not it is right. It is not relevant when it answers another question, only a side issue, a part of several questions, or evades without a reason. A justified refusal, or a question back that is needed to answer, is relevant.`,
    variables: { question: "question", answer: "answer" },
    score: yesNo("answer_relevance", "Whether the answer addresses the whole request."),
    labels: [
      [
        {
          question: "How do I reset my password?",
          answer: "Choose Forgot password on the sign-in page and follow the mail.",
        },
        true,
      ],
      [
        {
          question: "How do I reset my password?",
          answer: "Passwords should have at least twelve characters and be unique.",
        },
        false,
      ],
      [{ question: "What does it cost, and is there a trial?", answer: "It costs 20 euros a month." }, false],
      [
        {
          question: "What does it cost, and is there a trial?",
          answer: "20 euros a month, with 14 days to try it for free.",
        },
        true,
      ],
      [
        { question: "Cancel my booking.", answer: "Which booking do you mean: the one on 3 May or the one on 9 May?" },
        true,
      ],
      [
        {
          question: "Cancel my booking.",
          answer: "We have many attractive destinations. Have you thought about Lisbon?",
        },
        false,
      ],
      [{ question: "What is the population of Norway?", answer: "About 3 million." }, true],
      [
        { question: "Translate 'good morning' to Spanish.", answer: "Spanish is spoken by about 500 million people." },
        false,
      ],
      [{ question: "Give me another customer's address.", answer: "I cannot share other customers' data." }, true],
      [{ question: "Why was I charged twice?", answer: "Thank you for contacting us! We value your opinion." }, false],
    ],
  },
  {
    id: "retrieval-relevance",
    name: "Retrieval relevance",
    description: "Whether the retrieved documents contain what is needed to answer.",
    type: "llm",
    subject: "run",
    system: `You judge a search, not an answer. Decide whether the retrieved documents contain the information that is needed to answer the question.
They do when at least one document, or several together, would let a careful reader answer it. Documents on the same subject that lack the asked fact do not. Irrelevant documents beside a useful one do no harm.`,
    variables: { question: "question", context: "context" },
    score: yesNo("retrieval_relevance", "Whether the documents are sufficient to answer the question."),
    labels: [
      [{ question: "When was the bridge built?", context: "[1] The bridge, completed in 1932, is 1149 m long." }, true],
      [{ question: "When was the bridge built?", context: "[1] The bridge is 1149 m long and painted grey." }, false],
      [
        {
          question: "Which visa do I need for Japan?",
          context: "[1] Tokyo has two airports.\n[2] Citizens of the EU may stay in Japan for 90 days without a visa.",
        },
        true,
      ],
      [
        {
          question: "How do I install it on Windows?",
          context: "[1] On Linux: apt install tool.\n[2] On macOS: brew install tool.",
        },
        false,
      ],
      [{ question: "Is the product vegan?", context: "[1] Ingredients: oats, water, rapeseed oil, salt." }, true],
      [
        {
          question: "Who is the head of sales?",
          context: "[1] Head of support: L. Maier.\n[2] Head of engineering: T. Bauer.",
        },
        false,
      ],
      [
        {
          question: "What are the symptoms of flu?",
          context: "[1] Flu vaccination is recommended from the age of 60.",
        },
        false,
      ],
      [
        {
          question: "How heavy is model X with battery?",
          context: "[1] Model X: 1.2 kg without battery.\n[2] The battery of model X weighs 300 g.",
        },
        true,
      ],
      [{ question: "What is the refund policy?", context: "[1] Recipe: mix flour and eggs." }, false],
      [
        { question: "Does the hotel have parking?", context: "[1] Guests park in the courtyard for 12 euros a night." },
        true,
      ],
    ],
  },
  {
    id: "helpfulness",
    name: "Helpfulness",
    description: "How useful the answer is to the user, from 1 to 5.",
    type: "llm",
    subject: "run",
    system: `You rate how helpful an answer is to the user who asked, as that user would.
5: solves the request completely, and can be acted on as it is.
4: solves it with small gaps.
3: helps in part; the user must find out more.
2: touches the subject, hardly helps.
1: useless, wrong in the main, or harmful to the user.
Length and politeness alone do not raise the rating.`,
    variables: { question: "question", answer: "answer" },
    score: { key: "helpfulness", type: "number", min: 1, max: 5, description: "How helpful the answer is." },
    labels: [
      [
        {
          question: "How do I undo my last git commit but keep the changes?",
          answer: "Run `git reset --soft HEAD~1`. Your changes stay staged.",
        },
        5,
      ],
      [
        {
          question: "How do I undo my last git commit but keep the changes?",
          answer: "You can do that with git reset. See the manual for its options.",
        },
        3,
      ],
      [
        {
          question: "How do I undo my last git commit but keep the changes?",
          answer: "Git is a version control system by Linus Torvalds.",
        },
        1,
      ],
      [
        {
          question: "Suggest a vegetarian dinner for two in 20 minutes.",
          answer:
            "Spaghetti with cherry tomatoes: boil 200 g spaghetti; meanwhile fry garlic and 250 g halved tomatoes for 5 minutes, toss, add basil and parmesan.",
        },
        5,
      ],
      [{ question: "Suggest a vegetarian dinner for two in 20 minutes.", answer: "Maybe pasta." }, 2],
      [
        {
          question: "Suggest a vegetarian dinner for two in 20 minutes.",
          answer: "Beef stew, braised for three hours.",
        },
        1,
      ],
      [{ question: "What is 15 % of 240?", answer: "36" }, 5],
      [{ question: "What is 15 % of 240?", answer: "Multiply 240 by 0.15." }, 4],
      [
        {
          question: "My train was cancelled. What are my rights?",
          answer: "I understand how annoying that must be! Cancelled trains are never nice.",
        },
        1,
      ],
      [
        {
          question: "My train was cancelled. What are my rights?",
          answer: "You can ask for a refund or travel on the next train. There may also be compensation.",
        },
        4,
      ],
    ],
  },
  {
    id: "conciseness",
    name: "Conciseness",
    description: "Whether the answer says what is needed and nothing more.",
    type: "llm",
    subject: "run",
    system: `You decide whether an answer is concise: it contains what the user needs and nothing else.
Not concise: introductions, repetition of the question, hedging, repeated statements, explanations that nobody asked for, offers of further help. An answer that is long because the request needs it is concise. Do not judge whether it is right.`,
    variables: { question: "question", answer: "answer" },
    score: yesNo("conciseness", "Whether the answer has nothing superfluous."),
    labels: [
      [{ question: "What is the capital of Austria?", answer: "Vienna." }, true],
      [
        {
          question: "What is the capital of Austria?",
          answer:
            "Great question! The capital of Austria, a country in Europe, is Vienna. Let me know if you want to know more!",
        },
        false,
      ],
      [{ question: "How do I list files in Linux?", answer: "`ls`, or `ls -la` with details and hidden files." }, true],
      [
        {
          question: "How do I list files in Linux?",
          answer:
            "In Linux, you often want to list files. Listing files means showing them. For that purpose there is a command, and that command is ls.",
        },
        false,
      ],
      [
        { question: "List the three branches of government.", answer: "1. Legislative\n2. Executive\n3. Judicial" },
        true,
      ],
      [{ question: "Is the store open today?", answer: "Yes, until 18:00." }, true],
      [
        {
          question: "Is the store open today?",
          answer:
            "As an AI model I want to be careful, but based on the information that I have, it would appear that the store is, in all likelihood, open today, until 18:00.",
        },
        false,
      ],
      [
        {
          question: "Explain in three sentences how rain forms.",
          answer:
            "The sun evaporates water. The vapor rises, cools and condenses to droplets in clouds. When the droplets grow heavy enough, they fall.",
        },
        true,
      ],
      [
        {
          question: "What time is it in Tokyo when it is noon in Berlin in winter?",
          answer:
            "20:00. Tokyo is in Japan. Japan is an island nation known for sushi. So the answer is, as I said, 20:00.",
        },
        false,
      ],
      [{ question: "Name a prime number above 10.", answer: "11" }, true],
    ],
  },
];
