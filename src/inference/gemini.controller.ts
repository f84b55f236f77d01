import { applyDecorators, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ReadsMembers } from '../common/http/execution-context.js';
import { MeteredByBound, ProviderRoute } from '../gateway/provider-route.decorator.js';
import { gemini } from './dialects/gemini/gemini.dialect.js';
import { callGemini } from './gemini-operations.js';
import { InferenceService } from './inference.service.js';

/**
 * Gemini's own API. A path cannot be described where its last segment names a model and an operation, and a model with its
 * virtual key has several segments: `/v1beta/models/@gemini/gemini-2.5-flash:generateContent`.
 */
@ApiExcludeController()
@Controller()
export class GeminiController {
  constructor(private readonly inference: InferenceService) {}

  @GeminiCall()
  callGemini(@Req() request: Request, @Res() response: Response): Promise<void> {
    return callGemini(this.inference, request, response);
  }
}

function GeminiCall(): MethodDecorator {
  return applyDecorators(
    // Google's SDK has called the first since its version 3, and the second before.
    Post(['v1/models/*model', 'v1beta/models/*model']),
    HttpCode(200),
    ProviderRoute('completions.write'),
    ReadsMembers(gemini.members),
    MeteredByBound(),
  );
}
